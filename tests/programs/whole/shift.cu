// Every thread hands its element to the next one, and does not wait until that one has it.
#include <cstdio>

__global__ void shift(const float *in, float *out)
{
    __shared__ float tile[256];
    tile[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = tile[(threadIdx.x + 255) % 256];
}

int main()
{
    float *in, *out;
    cudaMalloc(&in, 256 * sizeof(float));
    cudaMalloc(&out, 256 * sizeof(float));
    cudaMemset(in, 0, 256 * sizeof(float));
    shift<<<1, 256>>>(in, out);
    cudaError_t error = cudaDeviceSynchronize();
    std::printf("%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
