// NVIDIA's own conversions, as their headers state them for the host.
//
//   header_truth CONVERSION < little-endian inputs > little-endian u32 results
//
// Compiled by headers.rs with plain g++ against the include folder of the CUDA runtime; without
// __CUDA_ARCH__ the headers take their portable path. Inputs are u32 (f32 bits or a code), or u64
// (f64 bits) for the conversions from double.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

template <class To, class From> static To bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "same size");
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}
static float f32(uint64_t x) { return bits<float>(uint32_t(x)); }
static double f64(uint64_t x) { return bits<double>(x); }
static uint32_t f16(__half x) { return bits<uint16_t>(x); }
static uint32_t bf16(__nv_bfloat16 x) { return bits<uint16_t>(x); }
static uint32_t widened(__half_raw x) { return bits<uint32_t>(__half2float(__half(x))); }

using Conversion = uint32_t (*)(uint64_t);
static const std::map<std::string, Conversion> conversions = {
    {"e2m1", [](uint64_t x) -> uint32_t { return __nv_cvt_float_to_fp4(f32(x), __NV_E2M1, cudaRoundNearest); }},
    {"e2m3", [](uint64_t x) -> uint32_t { return __nv_cvt_float_to_fp6(f32(x), __NV_E2M3, cudaRoundNearest); }},
    {"e3m2", [](uint64_t x) -> uint32_t { return __nv_cvt_float_to_fp6(f32(x), __NV_E3M2, cudaRoundNearest); }},
    {"e4m3", [](uint64_t x) -> uint32_t { return __nv_cvt_float_to_fp8(f32(x), __NV_SATFINITE, __NV_E4M3); }},
    {"e5m2", [](uint64_t x) -> uint32_t { return __nv_cvt_float_to_fp8(f32(x), __NV_SATFINITE, __NV_E5M2); }},
    {"e8m0.rz", [](uint64_t x) -> uint32_t { return __nv_cvt_float_to_e8m0(f32(x), __NV_SATFINITE, cudaRoundZero); }},
    {"e8m0.rp", [](uint64_t x) -> uint32_t { return __nv_cvt_float_to_e8m0(f32(x), __NV_SATFINITE, cudaRoundPosInf); }},
    {"e8m0.rz.unsaturated", [](uint64_t x) -> uint32_t { return __nv_cvt_float_to_e8m0(f32(x), __NV_NOSAT, cudaRoundZero); }},
    {"e8m0.rp.unsaturated", [](uint64_t x) -> uint32_t { return __nv_cvt_float_to_e8m0(f32(x), __NV_NOSAT, cudaRoundPosInf); }},
    {"f16.rn", [](uint64_t x) -> uint32_t { return f16(__float2half_rn(f32(x))); }},
    {"f16.rz", [](uint64_t x) -> uint32_t { return f16(__float2half_rz(f32(x))); }},
    {"f16.rm", [](uint64_t x) -> uint32_t { return f16(__float2half_rd(f32(x))); }},
    {"f16.rp", [](uint64_t x) -> uint32_t { return f16(__float2half_ru(f32(x))); }},
    {"bf16.rn", [](uint64_t x) -> uint32_t { return bf16(__float2bfloat16_rn(f32(x))); }},
    {"bf16.rz", [](uint64_t x) -> uint32_t { return bf16(__float2bfloat16_rz(f32(x))); }},
    {"bf16.rm", [](uint64_t x) -> uint32_t { return bf16(__float2bfloat16_rd(f32(x))); }},
    {"bf16.rp", [](uint64_t x) -> uint32_t { return bf16(__float2bfloat16_ru(f32(x))); }},
    {"f16.rn.f64", [](uint64_t x) -> uint32_t { return f16(__double2half(f64(x))); }},
    {"bf16.rn.f64", [](uint64_t x) -> uint32_t { return bf16(__double2bfloat16(f64(x))); }},
    {"e2m1.decode", [](uint64_t x) -> uint32_t { return widened(__nv_cvt_fp4_to_halfraw(__nv_fp4_storage_t(x), __NV_E2M1)); }},
    {"e2m3.decode", [](uint64_t x) -> uint32_t { return widened(__nv_cvt_fp6_to_halfraw(__nv_fp6_storage_t(x), __NV_E2M3)); }},
    {"e3m2.decode", [](uint64_t x) -> uint32_t { return widened(__nv_cvt_fp6_to_halfraw(__nv_fp6_storage_t(x), __NV_E3M2)); }},
    {"e4m3.decode", [](uint64_t x) -> uint32_t { return widened(__nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t(x), __NV_E4M3)); }},
    {"e5m2.decode", [](uint64_t x) -> uint32_t { return widened(__nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t(x), __NV_E5M2)); }},
    {"e8m0.decode.bf16", [](uint64_t x) -> uint32_t { return __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t(x)).x; }},
    {"f16.decode", [](uint64_t x) -> uint32_t { return bits<uint32_t>(__half2float(bits<__half>(uint16_t(x)))); }},
    {"bf16.decode", [](uint64_t x) -> uint32_t { return bits<uint32_t>(__bfloat162float(bits<__nv_bfloat16>(uint16_t(x)))); }},
};

int main(int argc, char **argv) {
    const std::string name = argc == 2 ? argv[1] : "";
    const auto found = conversions.find(name);
    if (found == conversions.end()) return 2;
    const size_t width = name.size() > 4 && name.substr(name.size() - 4) == ".f64" ? 8 : 4;
    std::vector<unsigned char> in(width << 14);
    std::vector<uint32_t> out;
    while (const size_t count = std::fread(in.data(), width, 1 << 14, stdin)) {
        out.clear();
        for (size_t i = 0; i < count; i++) {
            uint64_t x = 0;
            std::memcpy(&x, &in[i * width], width);
            out.push_back(found->second(x));
        }
        std::fwrite(out.data(), 4, count, stdout);
    }
    return 0;
}
