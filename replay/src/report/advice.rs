//! The advice's part of the page.

use maud::{Markup, html};

use crate::search::Advice;

pub(super) fn section(advice: &Advice) -> Markup {
    html! {
        @for sentence in &advice.sentences { p { (sentence) } }
    }
}
