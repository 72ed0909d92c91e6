// SPDX-License-Identifier: MIT
#include "network/netns/recipe.h"

#include <algorithm>

#include "network/netns/capture.h"
#include "network/netns/listeners.h"
#include "network/netns/routes.h"

namespace network::netns {

Recipe make_recipe(const NetworkRequest& request, bool raises_loopback) {
    Recipe recipe{.has_listeners = request.has_listeners,
                  .hands_namespace = request.has_connector,
                  .devices = device_requests({raises_loopback, request.has_listeners})};
    size_t most = 0;
    for (Capture capture : {Capture::tproxy, Capture::redirect, Capture::listeners}) {
        if (!request.has_listeners || capture < request.best) continue;
        recipe.attempts.push_back({.capture = capture,
                                   .rules = capture_rules(capture, true),
                                   .rules_v4 = capture_rules(capture, false),
                                   .endpoints = endpoints_for(request, capture)});
        most = std::max(most, recipe.attempts.back().endpoints.size());
    }
    recipe.opened.assign(most + 1, -1);
    return recipe;
}

}  // namespace network::netns
