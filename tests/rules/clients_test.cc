// SPDX-License-Identifier: MIT
#include "rules/bundle.h"

#include <gtest/gtest.h>

namespace network {
namespace {

using Texts = std::vector<std::string>;

TEST(Clients, TakeTheHostOfAUrlAndNoPassword) {
    EXPECT_EQ(entry_of_url("https://ann:secret@pypi.example.org:8443/simple?x"), "pypi.example.org:8443");
    EXPECT_EQ(entry_of_url("sparse+https://crates.example.org/index/"), "crates.example.org");
    EXPECT_EQ(entry_of_url("http://10.1.2.3/debian"), "10.1.2.3");
    for (const char* text :
         {"", "example.org", "file:///srv/mirror", "https://${HOST}/", "https://*.example.org/", "https:///x",
          "https://*/", "https://443/", "https://0.0.0.0/0"})
        EXPECT_NE(entry_of_url(text), "*") << text;
    EXPECT_EQ(entry_of_url("https://${HOST}/"), "");
    EXPECT_EQ(entry_of_url("https://*.example.org/"), "");
    EXPECT_EQ(entry_of_url("https://443/"), "");
    EXPECT_EQ(entry_of_url("file:///srv/mirror"), "");
}

TEST(Clients, ReadNpmrc) {
    EXPECT_EQ(npm_entries("registry=https://npm.example.org/\n//npm.example.org/:_authToken=x\n"),
              Texts{"npm.example.org"});
    EXPECT_EQ(npm_entries("; remark\n@lab:registry = https://lab.example.org:4873/\n"),
              (Texts{"lab.example.org:4873", "registry.npmjs.org"}));
    EXPECT_EQ(npm_entries("#registry=https://npm.example.org/\nfund=false\n"), Texts{});
}

TEST(Clients, ReadPipConf) {
    EXPECT_EQ(pip_entries("[global]\nindex-url = https://u:p@pypi.example.org/simple\nextra-index-url =\n"
                          "    https://a.example.org/simple\n    https://b.example.org/simple\ntimeout = 60\n"
                          "    https://c.example.org/\n"),
              (Texts{"pypi.example.org", "a.example.org", "b.example.org"}));
    EXPECT_EQ(pip_entries("[install]\nfind-links = https://w.example.org/wheels /srv/wheels\n"),
              (Texts{"w.example.org", "@pypi"}));
    EXPECT_EQ(pip_entries("[global]\nindex-url = https://pypi.org/simple\n"), (Texts{"pypi.org", "@pypi"}));
    EXPECT_EQ(pip_entries("[global]\ntimeout = 60\n"), Texts{});
}

TEST(Clients, ReadCondarc) {
    EXPECT_EQ(
        conda_entries("channels:\n  - conda-forge\n  - defaults\nchannel_alias: https://conda.example.org/\n"
                      "default_channels:\n  - https://mirror.example.org/main\nproxy_servers:\n"
                      "  https: http://proxy.example.org:3128\n"),
        (Texts{"conda.example.org", "mirror.example.org"}));
    EXPECT_EQ(conda_entries("channels: [conda-forge, defaults]\n"),
              (Texts{"conda.anaconda.org", "repo.anaconda.com", "conda-static.anaconda.org",
                     "binstar-cio-packages-prod.s3.amazonaws.com"}));
    EXPECT_EQ(conda_entries("custom_channels:\n  lab: https://lab.example.org/conda\n"),
              Texts{"lab.example.org"});
    EXPECT_EQ(conda_entries("auto_activate_base: false\n"), Texts{});
}

TEST(Clients, ReadCargoConfig) {
    EXPECT_EQ(cargo_entries("[source.crates-io]\nreplace-with = \"mirror\"\n[source.mirror]\nregistry = "
                            "\"sparse+https://crates.example.org/index/\"\n"),
              Texts{"crates.example.org"});
    EXPECT_EQ(
        cargo_entries("[registries.lab]\nindex = \"https://lab.example.org/git/index\"\n[http]\nproxy = "
                      "\"http://proxy.example.org\"\n"),
        (Texts{"lab.example.org", "@crates"}));
    EXPECT_EQ(cargo_entries("[build]\njobs = 2\n"), Texts{});
}

TEST(Clients, ReadAptSourcesOfBothKinds) {
    EXPECT_EQ(
        apt_entries("deb [signed-by=/x arch=amd64] http://deb.example.org/debian stable main # ours\n"
                    "# deb http://other.example.org/ x\ndeb-src https://src.example.org:8080/debian stable "
                    "main\ndeb cdrom:[x]/ stable main\n"),
        (Texts{"deb.example.org", "src.example.org:8080"}));
    EXPECT_EQ(
        apt_entries("Types: deb\nURIs: http://a.example.org/debian http://b.example.org/debian\n "
                    "http://c.example.org/debian\nSuites: stable\nX-Homepage: https://d.example.org/\n"),
        (Texts{"a.example.org", "b.example.org", "c.example.org"}));
}

}  // namespace
}  // namespace network
