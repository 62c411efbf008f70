// Sums, products, quotients and remainders of 128-bit integers, signed and not, against the host's.
#include <cstdio>
#include <vector>

typedef unsigned __int128 u128;
typedef __int128 i128;

struct Operands { unsigned long long a[2], b[2]; };
struct Results { unsigned long long of[8][2]; };

__host__ __device__ void keep(unsigned long long* to, u128 x)
{
    to[0] = (unsigned long long)x;
    to[1] = (unsigned long long)(x >> 64);
}

__host__ __device__ Results all(const Operands& in)
{
    u128 a = (u128)in.a[1] << 64 | in.a[0], b = (u128)in.b[1] << 64 | in.b[0];
    Results out;
    keep(out.of[0], a + b);
    keep(out.of[1], a - b);
    keep(out.of[2], a * b);
    keep(out.of[3], a / b);
    keep(out.of[4], a % b);
    keep(out.of[5], (u128)((i128)a / (i128)b));
    keep(out.of[6], (u128)((i128)a % (i128)b));
    keep(out.of[7], (u128)((i128)a >> (in.b[0] & 127)) + (a < b) + ((i128)a < (i128)b));
    return out;
}

__global__ void kernel(const Operands* in, Results* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = all(in[i]);
}

static unsigned long long state = 88172645463325252ull;
static unsigned long long draw()
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

// All widths: a divisor of 128 bits is another path than one of 64, or of a few.
static void draw(unsigned long long* to)
{
    u128 x = (u128)draw() << 64 | draw();
    x >>= draw() % 128;
    if (draw() % 4 == 0) x = ~x;
    if (draw() % 8 == 0) x = (u128)1 << draw() % 128;
    keep(to, x);
}

int main()
{
    const int n = 4096;
    std::vector<Operands> in(n);
    for (Operands& o : in) {
        draw(o.a);
        do draw(o.b); while (!(o.b[0] | o.b[1]) || !~(o.b[0] & o.b[1]));
    }
    Operands* din;
    Results* dout;
    cudaMalloc(&din, n * sizeof(Operands));
    cudaMalloc(&dout, n * sizeof(Results));
    cudaMemcpy(din, in.data(), n * sizeof(Operands), cudaMemcpyHostToDevice);
    kernel<<<n / 128, 128>>>(din, dout, n);
    std::vector<Results> out(n);
    cudaMemcpy(out.data(), dout, n * sizeof(Results), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) {
        Results want = all(in[i]);
        for (int k = 0; k < 8; k++)
            if (want.of[k][0] != out[i].of[k][0] || want.of[k][1] != out[i].of[k][1]) {
                printf("result %d of %d: %016llx%016llx, not %016llx%016llx\n", k, i, out[i].of[k][1], out[i].of[k][0],
                       want.of[k][1], want.of[k][0]);
                return 1;
            }
    }
    printf("%d quotients of 128 bits are the host's\n", n);
}
