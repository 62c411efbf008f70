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
            @for column in &first[..first.len() - 1] {
                th scope="col" { (site.ids.of(&column.best.id)) }
            }
        }
    };
    let body = html! {
        @for (place, row) in first.iter().enumerate().skip(1) {
            tr {
                @let own = &row.best.id;
                th scope="row" { (site.ids.of(own)) " " (layout::named(row.best.solution(), 30)) }
                @for (at, column) in first[..first.len() - 1].iter().enumerate() {
                    @let other = &column.best.id;
                    @let text = format!("{} and {}", site.ids.of(own), site.ids.of(other));
                    td {
                        @if at < place {
                            (comparison::link(site, own, other, &text).unwrap_or_default())
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
