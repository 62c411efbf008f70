//! What an attempt was built with, and what came of that.

use leaderboard::{Attempt, attempt::Kernel};
use maud::{Markup, html};

use super::LISTED;
use crate::{render::words, report::layout};

pub fn section(attempt: &Attempt) -> Markup {
    let outcome = &attempt.outcome;
    html! {
        h2 { "Built by" }
        @if !outcome.kernels.is_empty() { (kernels(&outcome.kernels)) }
        p {
            "nibble " (layout::named(&outcome.toolchain.nibble, 40))
            @if let Some(nvcc) = &outcome.toolchain.nvcc { ", nvcc " (layout::named(nvcc, 40)) }
            @if !outcome.toolchain.flags.is_empty() {
                ", " code { (layout::named(&outcome.toolchain.flags.join(" "), 400)) }
            }
            ", for " (layout::named(&outcome.device.name, 60)) ", "
            (layout::named(&outcome.device.arch, 20)) ". Source BLAKE3 "
            code { (layout::named(&attempt.source_hash, 16)) } "."
        }
        p.dim {
            "In a terminal: " code { "nibble attempt " (attempt.id.tail()) }
            "; with " code { "--source" } " it prints the source."
        }
    }
}

fn kernels(kernels: &[Kernel]) -> Markup {
    let head = layout::heading(&["kernel", ">registers", ">spills", ">shared memory"]);
    let body = html! {
        @for kernel in kernels.iter().take(LISTED) {
            tr {
                @let name = kernel.name.split('(').next().unwrap_or(&kernel.name);
                th.text scope="row" { code { (layout::named(name, 80)) } }
                td.number { (kernel.registers) }
                td.number { (words::bytes(kernel.spill_bytes.into())) }
                td.number { (words::bytes(kernel.shared_bytes.into())) }
            }
        }
    };
    layout::table("What ptxas says of each kernel", head, body)
}
