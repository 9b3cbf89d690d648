//! The advice's part of the page.

use maud::{Markup, PreEscaped, html};

use super::picture::scatter;
use crate::search::{Advice, Numbers};
use crate::shown::grouped;

pub(super) fn section(advice: &Advice) -> Markup {
    html! {
        @for sentence in &advice.sentences { p { (sentence) } }
        @if !advice.toml.is_empty() { pre { (advice.toml) } }
        figure role="img" aria-label="Each config by the bad calls it makes and the well calls it loses" {
            (PreEscaped(scatter(advice)))
            figcaption {
                span.key style="background:var(--calls)" {} "tried"
                span.key style="background:var(--median)" {} "beaten by none"
                span.key style="background:var(--bad)" {} "advised"
                "; on the calls before the split; nearer to the lower left is better"
            }
        }
        div.scroll { table {
            thead {
                tr { th rowspan="2" { "beaten by none" } th colspan="4" { "before the split: chosen on" } th colspan="4" { "after it: judged on" } }
                tr { @for _ in 0..2 { th.n { "made bad" } th.n { "spared" } th.n { "lost" } th.n { "false trips" } } }
            }
            tbody { @for (index, tried) in advice.front.iter().enumerate() {
                tr class=[(advice.chosen == Some(index)).then_some("chosen")] {
                    td { (tried.name) }
                    (numbers(&tried.first))
                    (numbers(&tried.second))
                }
            } }
        } }
    }
}

fn numbers(of: &Numbers) -> Markup {
    html! {
        @for number in [of.made_bad, of.spared, of.lost, of.false_trips] { td.n { (grouped(number)) } }
    }
}
