//! The first of a board, each two of them compared.

use maud::{Markup, html};

use crate::report::{
    comparison, layout,
    site::{COMPARED, Contest, Site},
};

/// Every pair of the first few has a page.
pub fn section(site: &Site<'_>, contest: &Contest<'_>) -> Markup {
    let first: Vec<_> = contest.board.rows.iter().take(COMPARED).collect();
    if first.len() < 2 {
        return html! {};
    }
    let head = html! {
        tr {
            td {}
            @for column in &first[..first.len() - 1] { th scope="col" { (site.ids.of(&column.best.id)) } }
        }
    };
    let body = html! {
        @for (place, row) in first.iter().enumerate().skip(1) {
            tr {
                th scope="row" { (site.ids.of(&row.best.id)) " " (layout::named(row.best.solution(), 30)) }
                @for column in &first[..first.len() - 1] {
                    td {
                        @if first[..place].iter().any(|before| before.best.id == column.best.id) {
                            @let name = format!("{} and {}", site.ids.of(&row.best.id), site.ids.of(&column.best.id));
                            @if let Some(link) = comparison::link(site, &row.best.id, &column.best.id, &name) { (link) }
                        }
                    }
                }
            }
        }
    };
    html! {
        h2 { "Side by side" }
        (layout::table("The first of the board, each two compared", head, body))
        p.dim {
            "Attempts are compared with their parents on pages of their own, linked from "
            a href={ "../" (contest.list(1)) } { "all attempts" } "; any two with "
            code { "nibble diff A B" } "."
        }
    }
}
