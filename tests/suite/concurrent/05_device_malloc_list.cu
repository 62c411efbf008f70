// Linked lists on the device heap: each thread prepends nodes from malloc, a later kernel walks and frees them. new and
// delete too. Then 16 MiB at a time, for which the heap has to be made larger first.
#include <cstdio>
#include <cstdlib>

struct Node {
  int value;
  Node *next;
};

__global__ void build(Node **heads, int lists, int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lists) return;
    Node *head = nullptr;
    for (int j = 0; j < length + i % 5; j++) {
        Node *n = j % 2 ? new Node : (Node *)malloc(sizeof(Node));
        if (!n) { heads[i] = (Node *)1; return; }
        n->value = i * 1000 + j;
        n->next = head;
        head = n;
    }
    heads[i] = head;
}

__global__ void reverse(Node **heads, int lists)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lists) return;
    Node *before = nullptr, *at = heads[i];
    while (at) { Node *next = at->next; at->next = before; before = at; at = next; }
    heads[i] = before;
}

__global__ void consume(Node **heads, int lists, int length, int *errors, int *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lists) return;
    int j = 0;
    for (Node *n = heads[i]; n; j++) {
        if (n->value != i * 1000 + j) atomicAdd(errors, 1);
        atomicAdd(sum, n->value);
        Node *next = n->next;
        if (j % 2) delete n; else free(n);
        n = next;
    }
    if (j != length + i % 5) atomicAdd(errors, 1000);
}

__global__ void hold(char **blocks, int bytes, int *errors)
{
    char *p = blocks[threadIdx.x] = (char *)malloc(bytes);
    if (p) p[0] = p[bytes - 1] = 1; else atomicAdd(errors, 1);
    __syncthreads();
    free(p);
}

int main()
{
    const int lists = 50, length = 8;
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20);
    Node **heads;
    int *r, got[2], want = 0;
    cudaMalloc(&heads, lists * sizeof(Node *));
    cudaMalloc(&r, 8);
    for (int round = 0; round < 2; round++) {
        cudaMemset(r, 0, 8);
        build<<<2, 32>>>(heads, lists, length);
        reverse<<<2, 32>>>(heads, lists);
        consume<<<2, 32>>>(heads, lists, length, r, r + 1);
        cudaError_t e = cudaMemcpy(got, r, 8, cudaMemcpyDeviceToHost);
        if (e != cudaSuccess) { printf("%s\n", cudaGetErrorString(e)); return 2; }
        want = 0;
        for (int i = 0; i < lists; i++) for (int j = 0; j < length + i % 5; j++) want += i * 1000 + j;
        if (got[0] || got[1] != want) { printf("round %d: %d errors, sum %d, expected %d\n", round, got[0], got[1], want); return 1; }
    }
    char **blocks;
    cudaMalloc(&blocks, 256 * sizeof(char *));
    cudaMemset(r, 0, 8);
    hold<<<1, 256>>>(blocks, 64 << 10, r);
    cudaMemcpy(got, r, 8, cudaMemcpyDeviceToHost);
    if (got[0]) { printf("%d of 256 blocks of 64 KiB did not fit\n", got[0]); return 1; }
    printf("linked lists on the device heap: sum %d\n", want);
    return 0;
}
