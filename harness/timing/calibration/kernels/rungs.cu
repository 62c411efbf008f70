// The ladders of `solutions/`, called as the judge calls them.

#include "driver.cuh"

namespace n_fp4_attention_01 {
#define solution fp4_attention_01
#include "solutions/fp4_attention/01_scalar.cu"
#undef solution
}
namespace n_fp4_attention_05 {
#define solution fp4_attention_05
#include "solutions/fp4_attention/05_f16_mma.cu"
#undef solution
}
namespace n_mxfp4_dequantize_01 {
#define solution mxfp4_dequantize_01
#include "solutions/mxfp4_dequantize/01_thread_per_byte.cu"
#undef solution
}
namespace n_mxfp4_dequantize_02 {
#define solution mxfp4_dequantize_02
#include "solutions/mxfp4_dequantize/02_whole_lines.cu"
#undef solution
}
namespace n_mxfp4_quantize_01 {
#define solution mxfp4_quantize_01
#include "solutions/mxfp4_quantize/01_thread_per_block.cu"
#undef solution
}
namespace n_mxfp4_quantize_02 {
#define solution mxfp4_quantize_02
#include "solutions/mxfp4_quantize/02_warp_per_block.cu"
#undef solution
}
namespace n_mxfp4_quantize_03 {
#define solution mxfp4_quantize_03
#include "solutions/mxfp4_quantize/03_four_lanes_vectorized.cu"
#undef solution
}
namespace n_mxfp4_quantize_04 {
#define solution mxfp4_quantize_04
#include "solutions/mxfp4_quantize/04_deep_loads_hardware_cvt.cu"
#undef solution
}
namespace n_nvfp4_dequantize_01 {
#define solution nvfp4_dequantize_01
#include "solutions/nvfp4_dequantize/01_thread_per_byte.cu"
#undef solution
}
namespace n_nvfp4_dequantize_02 {
#define solution nvfp4_dequantize_02
#include "solutions/nvfp4_dequantize/02_rows_that_share_sectors.cu"
#undef solution
}
namespace n_nvfp4_gemv_01 {
#define solution nvfp4_gemv_01
#include "solutions/nvfp4_gemv/01_thread_per_row.cu"
#undef solution
}
namespace n_nvfp4_gemv_02 {
#define solution nvfp4_gemv_02
#include "solutions/nvfp4_gemv/02_split_k_atomics.cu"
#undef solution
}
namespace n_nvfp4_gemv_03 {
#define solution nvfp4_gemv_03
#include "solutions/nvfp4_gemv/03_warp_per_row.cu"
#undef solution
}
namespace n_nvfp4_gemv_04 {
#define solution nvfp4_gemv_04
#include "solutions/nvfp4_gemv/04_two_pass_split_k.cu"
#undef solution
}
namespace n_nvfp4_gemv_05 {
#define solution nvfp4_gemv_05
#include "solutions/nvfp4_gemv/05_wide_loads.cu"
#undef solution
}
namespace n_nvfp4_gemv_06 {
#define solution nvfp4_gemv_06
#include "solutions/nvfp4_gemv/06_four_accumulators.cu"
#undef solution
}
namespace n_nvfp4_gemv_07 {
#define solution nvfp4_gemv_07
#include "solutions/nvfp4_gemv/07_register_cap.cu"
#undef solution
}
namespace n_nvfp4_gemv_08 {
#define solution nvfp4_gemv_08
#include "solutions/nvfp4_gemv/08_software_pipelining.cu"
#undef solution
}
namespace n_nvfp4_gemv_09 {
#define solution nvfp4_gemv_09
#include "solutions/nvfp4_gemv/09_cache_hints.cu"
#undef solution
}
namespace n_nvfp4_gemv_10 {
#define solution nvfp4_gemv_10
#include "solutions/nvfp4_gemv/10_byte_unpacking.cu"
#undef solution
}
namespace n_nvfp4_gemv_11 {
#define solution nvfp4_gemv_11
#include "solutions/nvfp4_gemv/11_template_k.cu"
#undef solution
}
namespace n_nvfp4_gemv_12 {
#define solution nvfp4_gemv_12
#include "solutions/nvfp4_gemv/12_rows_share_b.cu"
#undef solution
}
namespace n_nvfp4_gemv_13 {
#define solution nvfp4_gemv_13
#include "solutions/nvfp4_gemv/13_whole_occupancy.cu"
#undef solution
}
namespace n_nvfp4_quantize_01 {
#define solution nvfp4_quantize_01
#include "solutions/nvfp4_quantize/01_thread_per_block.cu"
#undef solution
}
namespace n_nvfp4_quantize_02 {
#define solution nvfp4_quantize_02
#include "solutions/nvfp4_quantize/02_two_lanes_vectorized.cu"
#undef solution
}
namespace n_nvfp4_quantize_03 {
#define solution nvfp4_quantize_03
#include "solutions/nvfp4_quantize/03_hardware_cvt.cu"
#undef solution
}
namespace n_nvfp4_quantize_04 {
#define solution nvfp4_quantize_04
#include "solutions/nvfp4_quantize/04_whole_sectors_fma_rounding.cu"
#undef solution
}
namespace n_nvfp4_quantize_amax_01 {
#define solution nvfp4_quantize_amax_01
#include "solutions/nvfp4_quantize_amax/01_three_launches.cu"
#undef solution
}
namespace n_nvfp4_quantize_amax_02 {
#define solution nvfp4_quantize_amax_02
#include "solutions/nvfp4_quantize_amax/02_back_through_l2.cu"
#undef solution
}

// A, then scales, then B and the rest, far enough apart; outputs likewise.
std::vector<Call> calls() {
    std::vector<Call> all;
    constexpr size_t kFar = 64 * kMiB;
    (void)kFar;
    for (const auto& [m, k] : {std::pair<size_t, size_t>{1024, 1024}, {2048, 2048}, {4096, 8192}}) {
        const std::string size = " " + std::to_string(m) + "x" + std::to_string(k);
        all.push_back({"mxfp4_dequantize/rung 01_thread_per_byte" + size, [=](const Memory& x) { n_mxfp4_dequantize_01::mxfp4_dequantize_01(x.in, x.in + kFar, x.to<float>(), m, k); }});
        all.push_back({"mxfp4_dequantize/rung 02_whole_lines" + size, [=](const Memory& x) { n_mxfp4_dequantize_02::mxfp4_dequantize_02(x.in, x.in + kFar, x.to<float>(), m, k); }});
        all.push_back({"mxfp4_quantize/rung 01_thread_per_block" + size, [=](const Memory& x) { n_mxfp4_quantize_01::mxfp4_quantize_01(x.from<float>(), x.out, x.out + 80 * kMiB, m, k); }});
        all.push_back({"mxfp4_quantize/rung 02_warp_per_block" + size, [=](const Memory& x) { n_mxfp4_quantize_02::mxfp4_quantize_02(x.from<float>(), x.out, x.out + 80 * kMiB, m, k); }});
        all.push_back({"mxfp4_quantize/rung 03_four_lanes_vectorized" + size, [=](const Memory& x) { n_mxfp4_quantize_03::mxfp4_quantize_03(x.from<float>(), x.out, x.out + 80 * kMiB, m, k); }});
        all.push_back({"mxfp4_quantize/rung 04_deep_loads_hardware_cvt" + size, [=](const Memory& x) { n_mxfp4_quantize_04::mxfp4_quantize_04(x.from<float>(), x.out, x.out + 80 * kMiB, m, k); }});
        all.push_back({"nvfp4_dequantize/rung 01_thread_per_byte" + size, [=](const Memory& x) { n_nvfp4_dequantize_01::nvfp4_dequantize_01(x.in, x.in + kFar, 0.5f, x.to<float>(), m, k); }});
        all.push_back({"nvfp4_dequantize/rung 02_rows_that_share_sectors" + size, [=](const Memory& x) { n_nvfp4_dequantize_02::nvfp4_dequantize_02(x.in, x.in + kFar, 0.5f, x.to<float>(), m, k); }});
        all.push_back({"nvfp4_quantize/rung 01_thread_per_block" + size, [=](const Memory& x) { n_nvfp4_quantize_01::nvfp4_quantize_01(x.from<__half>(), 0.5f, x.out, x.out + 80 * kMiB, m, k); }});
        all.push_back({"nvfp4_quantize/rung 02_two_lanes_vectorized" + size, [=](const Memory& x) { n_nvfp4_quantize_02::nvfp4_quantize_02(x.from<__half>(), 0.5f, x.out, x.out + 80 * kMiB, m, k); }});
        all.push_back({"nvfp4_quantize/rung 03_hardware_cvt" + size, [=](const Memory& x) { n_nvfp4_quantize_03::nvfp4_quantize_03(x.from<__half>(), 0.5f, x.out, x.out + 80 * kMiB, m, k); }});
        all.push_back({"nvfp4_quantize/rung 04_whole_sectors_fma_rounding" + size, [=](const Memory& x) { n_nvfp4_quantize_04::nvfp4_quantize_04(x.from<__half>(), 0.5f, x.out, x.out + 80 * kMiB, m, k); }});
        all.push_back({"nvfp4_quantize_amax/rung 01_three_launches" + size, [=](const Memory& x) { n_nvfp4_quantize_amax_01::nvfp4_quantize_amax_01(x.from<__half>(), x.out, x.out + 80 * kMiB, x.to<float>(100 * kMiB), m, k); }});
        all.push_back({"nvfp4_quantize_amax/rung 02_back_through_l2" + size, [=](const Memory& x) { n_nvfp4_quantize_amax_02::nvfp4_quantize_amax_02(x.from<__half>(), x.out, x.out + 80 * kMiB, x.to<float>(100 * kMiB), m, k); }});
    }
    for (const auto& [m, k, l] : {std::tuple<size_t, size_t, size_t>{7168, 16384, 1}, {4096, 7168, 8}, {7168, 2048, 4}}) {
        const std::string size = " " + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(l);
        all.push_back({"nvfp4_gemv/rung 01_thread_per_row" + size, [=](const Memory& x) { n_nvfp4_gemv_01::nvfp4_gemv_01(x.in, x.in + 136 * kMiB, x.in + 120 * kMiB, x.in + 140 * kMiB, x.in + 104 * kMiB, x.in + 142 * kMiB, x.to<__half>(), m, k, l); }});
        all.push_back({"nvfp4_gemv/rung 02_split_k_atomics" + size, [=](const Memory& x) { n_nvfp4_gemv_02::nvfp4_gemv_02(x.in, x.in + 136 * kMiB, x.in + 120 * kMiB, x.in + 140 * kMiB, x.in + 104 * kMiB, x.in + 142 * kMiB, x.to<__half>(), m, k, l); }});
        all.push_back({"nvfp4_gemv/rung 03_warp_per_row" + size, [=](const Memory& x) { n_nvfp4_gemv_03::nvfp4_gemv_03(x.in, x.in + 136 * kMiB, x.in + 120 * kMiB, x.in + 140 * kMiB, x.in + 104 * kMiB, x.in + 142 * kMiB, x.to<__half>(), m, k, l); }});
        all.push_back({"nvfp4_gemv/rung 04_two_pass_split_k" + size, [=](const Memory& x) { n_nvfp4_gemv_04::nvfp4_gemv_04(x.in, x.in + 136 * kMiB, x.in + 120 * kMiB, x.in + 140 * kMiB, x.in + 104 * kMiB, x.in + 142 * kMiB, x.to<__half>(), m, k, l); }});
        all.push_back({"nvfp4_gemv/rung 05_wide_loads" + size, [=](const Memory& x) { n_nvfp4_gemv_05::nvfp4_gemv_05(x.in, x.in + 136 * kMiB, x.in + 120 * kMiB, x.in + 140 * kMiB, x.in + 104 * kMiB, x.in + 142 * kMiB, x.to<__half>(), m, k, l); }});
        all.push_back({"nvfp4_gemv/rung 06_four_accumulators" + size, [=](const Memory& x) { n_nvfp4_gemv_06::nvfp4_gemv_06(x.in, x.in + 136 * kMiB, x.in + 120 * kMiB, x.in + 140 * kMiB, x.in + 104 * kMiB, x.in + 142 * kMiB, x.to<__half>(), m, k, l); }});
        all.push_back({"nvfp4_gemv/rung 07_register_cap" + size, [=](const Memory& x) { n_nvfp4_gemv_07::nvfp4_gemv_07(x.in, x.in + 136 * kMiB, x.in + 120 * kMiB, x.in + 140 * kMiB, x.in + 104 * kMiB, x.in + 142 * kMiB, x.to<__half>(), m, k, l); }});
        all.push_back({"nvfp4_gemv/rung 08_software_pipelining" + size, [=](const Memory& x) { n_nvfp4_gemv_08::nvfp4_gemv_08(x.in, x.in + 136 * kMiB, x.in + 120 * kMiB, x.in + 140 * kMiB, x.in + 104 * kMiB, x.in + 142 * kMiB, x.to<__half>(), m, k, l); }});
        all.push_back({"nvfp4_gemv/rung 09_cache_hints" + size, [=](const Memory& x) { n_nvfp4_gemv_09::nvfp4_gemv_09(x.in, x.in + 136 * kMiB, x.in + 120 * kMiB, x.in + 140 * kMiB, x.in + 104 * kMiB, x.in + 142 * kMiB, x.to<__half>(), m, k, l); }});
        all.push_back({"nvfp4_gemv/rung 10_byte_unpacking" + size, [=](const Memory& x) { n_nvfp4_gemv_10::nvfp4_gemv_10(x.in, x.in + 136 * kMiB, x.in + 120 * kMiB, x.in + 140 * kMiB, x.in + 104 * kMiB, x.in + 142 * kMiB, x.to<__half>(), m, k, l); }});
        all.push_back({"nvfp4_gemv/rung 11_template_k" + size, [=](const Memory& x) { n_nvfp4_gemv_11::nvfp4_gemv_11(x.in, x.in + 136 * kMiB, x.in + 120 * kMiB, x.in + 140 * kMiB, x.in + 104 * kMiB, x.in + 142 * kMiB, x.to<__half>(), m, k, l); }});
        all.push_back({"nvfp4_gemv/rung 12_rows_share_b" + size, [=](const Memory& x) { n_nvfp4_gemv_12::nvfp4_gemv_12(x.in, x.in + 136 * kMiB, x.in + 120 * kMiB, x.in + 140 * kMiB, x.in + 104 * kMiB, x.in + 142 * kMiB, x.to<__half>(), m, k, l); }});
        all.push_back({"nvfp4_gemv/rung 13_whole_occupancy" + size, [=](const Memory& x) { n_nvfp4_gemv_13::nvfp4_gemv_13(x.in, x.in + 136 * kMiB, x.in + 120 * kMiB, x.in + 140 * kMiB, x.in + 104 * kMiB, x.in + 142 * kMiB, x.to<__half>(), m, k, l); }});
    }
    for (const auto& [heads, q, k, d] : {std::tuple<size_t, size_t, size_t, size_t>{32, 64, 128, 128}, {32, 64, 1024, 128}, {32, 64, 512, 64}, {2, 1024, 1024, 128}}) {
        const std::string size = " " + std::to_string(heads) + "x" + std::to_string(q) + "x" + std::to_string(k) + "x" + std::to_string(d);
        all.push_back({"fp4_attention/rung 01_scalar" + size, [=](const Memory& x) { n_fp4_attention_01::fp4_attention_01(x.from<float>(kNumbers), x.from<float>(kNumbers + 8 * kMiB), x.from<float>(kNumbers + 26 * kMiB), x.to<float>(), 1, heads, q, k, d); }});
        all.push_back({"fp4_attention/rung 05_f16_mma" + size, [=](const Memory& x) { n_fp4_attention_05::fp4_attention_05(x.from<float>(kNumbers), x.from<float>(kNumbers + 8 * kMiB), x.from<float>(kNumbers + 26 * kMiB), x.to<float>(), 1, heads, q, k, d); }});
    }
    return all;
}
