//! Shared addresses carry the rank of their CTA in the cluster in bits 24 and up, as the hardware's do: public
//! kernels mask these bits off and flip them (PTX ISA 5.1.7 only says that `mapa` gives such addresses).

use emulator::{Config, LaunchConfig, Level, Machine};

/// Runs `body` in two CTAs of a cluster, one thread each. `%rd0` is where the CTA's sixteen words go, `s` has
/// 64 bytes, `%r0` is its address and `%r1` the rank.
fn run(body: &str, sanitize: bool) -> Result<[[u32; 16]; 2], String> {
    let ptx = format!(
        ".version 8.0\n.target sm_90a\n.address_size 64\n\
         .visible .entry kernel(.param .u64 out)\n{{\n\
         .shared .align 16 .b8 before[16];\n.shared .align 64 .b8 s[64];\n\
         .reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n.reg .pred %p<4>;\n\
         mov.u32 %r0, s;\nmov.u32 %r1, %cluster_ctarank;\nst.shared.u32 [before], %r1;\n\
         ld.param.u64 %rd0, [out];\nmul.wide.u32 %rd1, %r1, 64;\nadd.u64 %rd0, %rd0, %rd1;\n\
         add.u32 %r2, %r1, 100;\nst.shared.u32 [%r0], %r2;\nst.shared.u32 [s+4], %r2;\n\
         barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n\
         {body}\n\
         barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\nret;\n}}\n"
    );
    let machine =
        Machine::new(Config { level: Level::detect(), threads: 1, sanitize, ..Config::default() });
    let out = machine.memory().allocate(128, "out").expect("room");
    let module = machine.load(&ptx).expect("PTX");
    let launch = LaunchConfig {
        kernel: module.kernel("kernel").expect("kernel"),
        grid: [2, 1, 1],
        block: [1, 1, 1],
        dynamic_shared: 0,
        cluster: Some([2, 1, 1]),
        cooperative: false,
    };
    machine.launch(&launch, &out.to_le_bytes()).map_err(|fault| fault.headline())?;
    let from = std::ptr::with_exposed_provenance::<[[u32; 16]; 2]>(out as usize);
    // SAFETY: an allocation of this size, which nobody else uses.
    Ok(unsafe { from.read() })
}

#[test]
fn an_address_of_the_ctas_own_carries_its_rank() {
    for sanitize in [false, true] {
        let body = "st.global.u32 [%rd0], %r0;\n\
            mov.u64 %rd2, s;\nst.global.u64 [%rd0+8], %rd2;\n\
            getctarank.shared::cluster.u32 %r3, %r0;\nst.global.u32 [%rd0+16], %r3;\n\
            mapa.shared::cluster.u32 %r3, %r0, %r1;\nst.global.u32 [%rd0+20], %r3;\n\
            cvta.shared.u64 %rd3, %rd2;\nld.u32 %r3, [%rd3];\nst.global.u32 [%rd0+24], %r3;\n\
            isspacep.shared::cta %p1, %rd3;\nselp.u32 %r3, 1, 0, %p1;\nst.global.u32 [%rd0+28], %r3;\n\
            ld.shared.u32 %r3, [%r0+4];\nst.global.u32 [%rd0+32], %r3;\n\
            ld.shared.u32 %r3, [s+4];\nst.global.u32 [%rd0+36], %r3;";
        let found = run(body, sanitize).expect("a legal kernel");
        for (rank, words) in found.iter().enumerate() {
            let rank = rank as u32;
            let address = rank << 24 | 64;
            let wanted =
                [address, address, 0, rank, address, 100 + rank, 1, 100 + rank, 100 + rank];
            let places = [0, 2, 3, 4, 5, 6, 7, 8, 9];
            assert_eq!(places.map(|at| words[at]), wanted, "rank {rank}");
        }
    }
}

#[test]
fn masks_and_flips_lead_to_the_other_cta_of_a_pair() {
    let body = "and.b32 %r3, %r0, 0xfeffffff;\nld.shared::cluster.u32 %r4, [%r3];\nst.global.u32 [%rd0], %r4;\n\
        xor.b32 %r3, %r0, 0x01000000;\nld.shared::cluster.u32 %r4, [%r3];\nst.global.u32 [%rd0+4], %r4;\n\
        cvt.u64.u32 %rd2, %r3;\ncvta.shared.u64 %rd2, %rd2;\nld.u32 %r4, [%rd2];\nst.global.u32 [%rd0+8], %r4;\n\
        isspacep.shared::cta %p1, %rd2;\nselp.u32 %r4, 1, 0, %p1;\nst.global.u32 [%rd0+12], %r4;\n\
        isspacep.shared::cluster %p1, %rd2;\nselp.u32 %r4, 1, 0, %p1;\nst.global.u32 [%rd0+16], %r4;";
    let found = run(body, false).expect("a legal kernel");
    for (rank, words) in found.iter().enumerate() {
        let other = 101 - rank as u32;
        assert_eq!(words[..5], [100, other, other, 0, 1], "rank {rank}");
    }
}

#[test]
fn a_rank_that_the_cluster_lacks_is_out_of_bounds() {
    let said =
        run("mapa.shared::cluster.u32 %r3, %r0, 2;\nld.shared::cluster.u32 %r4, [%r3];", false);
    assert!(said.is_err_and(|said| said.contains("shared memory")));
}
