// SPDX-License-Identifier: MIT
// Functions that OpenSSL's archives call, and that the linker leads here (--wrap).
//
// OPENSSL_cpuid_setup: the archives for x86-64 look at the processor before main(), in every process that
// links them. The first call does nothing, so a launch that uses no TLS touches no page of OpenSSL. OpenSSL
// calls the function again when it is first used.
//
// dlopen, getaddrinfo, gethostbyname: OpenSSL loads modules and looks up names with them, and this program
// uses neither. In a static program they would load shared libraries of the host. They fail here.
#include <netdb.h>

extern "C" {

void* __wrap_dlopen(const char* file, int mode);
int __wrap_getaddrinfo(const char* node, const char* service, const addrinfo* hints, addrinfo** found);
hostent* __wrap_gethostbyname(const char* name);

#ifdef __x86_64__
void __real_OPENSSL_cpuid_setup();
void __wrap_OPENSSL_cpuid_setup();

void __wrap_OPENSSL_cpuid_setup() {
    static bool was_called = false;
    if (was_called) __real_OPENSSL_cpuid_setup();
    was_called = true;
}
#endif

void* __wrap_dlopen(const char*, int) {
    return nullptr;
}

int __wrap_getaddrinfo(const char*, const char*, const addrinfo*, addrinfo** found) {
    *found = nullptr;
    return EAI_FAIL;
}

hostent* __wrap_gethostbyname(const char*) {
    return nullptr;
}

}  // extern "C"
