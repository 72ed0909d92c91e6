// SPDX-License-Identifier: MIT
// The smallest program that proves a GPU: memory on it, a kernel, the sum back.
#include <cstdio>

__global__ void add(const float* a, const float* b, float* sum, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) sum[i] = a[i] + b[i];
}

static bool succeeded(cudaError_t result, const char* step) {
    if (result == cudaSuccess) return true;
    std::printf("%s: %s\n", step, cudaGetErrorString(result));
    return false;
}

int main() {
    constexpr int kCount = 1 << 20;
    int devices = 0;
    if (!succeeded(cudaGetDeviceCount(&devices), "count the devices")) return 1;
    float *a = nullptr, *b = nullptr, *sum = nullptr;
    // Managed memory needs /dev/nvidia-uvm, which plain allocations may do without.
    if (!succeeded(cudaMallocManaged(&a, kCount * sizeof(float)), "allocate") ||
        !succeeded(cudaMallocManaged(&b, kCount * sizeof(float)), "allocate") ||
        !succeeded(cudaMallocManaged(&sum, kCount * sizeof(float)), "allocate")) {
        return 1;
    }
    for (int i = 0; i < kCount; ++i) {
        a[i] = static_cast<float>(i);
        b[i] = 1.0f;
    }
    add<<<(kCount + 255) / 256, 256>>>(a, b, sum, kCount);
    if (!succeeded(cudaGetLastError(), "launch") || !succeeded(cudaDeviceSynchronize(), "run")) return 1;
    for (int i = 0; i < kCount; ++i) {
        if (sum[i] != a[i] + b[i]) {
            std::printf("wrong sum at %d\n", i);
            return 1;
        }
    }
    std::printf("added %d numbers on one of %d device(s)\n", kCount, devices);
    return 0;
}
