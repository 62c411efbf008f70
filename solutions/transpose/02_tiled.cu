//! problem = "transpose"
//
// Rung 2: a tile in shared memory, where the turn costs no sectors.
//
// A CTA takes 32 x 32 elements. It writes them to shared memory as they come, row by row, and reads
// them column by column; so both sides of global memory see whole lines.
//
//   input                tile                       output
//   row of 32 floats ──► tile[y][0..31]
//                        tile[0..31][y] ──────────► row of 32 floats
//
// Now the shared memory waits. Its 32 banks are 4 bytes wide, and a row of the tile is 32 floats, so
// a column lies in one bank, 32 ways deep: the load of a column takes 32 passes. `nibble profile`
// shows 32 passes at the line that reads the tile.
//
// Seen on an H200 (2026-11-23, sm_90a, cold L2, microseconds): 24.0 for 2048 x 2048, 24.1 for 4096 x 1024.

#include <cstddef>

constexpr int kTile = 32;
constexpr int kRows = 8;  // of threads: each takes four elements

__global__ void transpose(const float* input, float* output, size_t width, size_t height) {
    __shared__ float tile[kTile][kTile];
    const size_t left = size_t(blockIdx.x) * kTile, top = size_t(blockIdx.y) * kTile;
    for (int y = threadIdx.y; y < kTile; y += kRows) {
        const size_t row = top + y, column = left + threadIdx.x;
        if (row < height && column < width) tile[y][threadIdx.x] = input[row * width + column];
    }
    __syncthreads();
    for (int y = threadIdx.y; y < kTile; y += kRows) {
        const size_t row = left + y, column = top + threadIdx.x;  // of the output
        if (row < width && column < height) output[row * height + column] = tile[threadIdx.x][y];
    }
}

extern "C" void solution(const float* input, float* output, size_t width, size_t height) {
    const dim3 blocks(unsigned((width + kTile - 1) / kTile), unsigned((height + kTile - 1) / kTile));
    transpose<<<blocks, dim3(kTile, kRows)>>>(input, output, width, height);
}
