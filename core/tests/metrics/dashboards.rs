//! The dashboard and the alert rules ask for series that there are.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cutout::{Cause, ManualClock, State};
use serde_json::Value;

use crate::fragile;
use crate::page::Scraper;

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("dashboards")
        .join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The words of a text that begin as our series do.
fn series_in(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| word.starts_with("cutout_"))
        .collect()
}

/// All label values that the text compares `label` with.
fn values_in<'a>(text: &'a str, label: &str) -> BTreeSet<&'a str> {
    let mut values = BTreeSet::new();
    for operator in ["=", "!=", "=~", "!~"] {
        for quote in ["\"", "\\\""] {
            let start = format!("{label}{operator}{quote}");
            for (at, _) in text.match_indices(&start) {
                let rest = &text[at + start.len()..];
                let end = rest.find(['"', '\\']).unwrap_or(rest.len());
                values.extend(rest[..end].split('|'));
            }
        }
    }
    values
}

#[test]
fn each_series_in_them_is_one_that_is_emitted() {
    let breaker = fragile(&ManualClock::new()).build().unwrap();
    breaker.allow().unwrap().failure();
    let page = Scraper::new().observe(&breaker).page();
    let emitted = page.names();
    for file in ["cutout.json", "alerts.yml", "alerts.test.yml"] {
        let text = read(file);
        let asked = series_in(&text);
        assert!(!asked.is_empty(), "{file} asks for nothing");
        let unknown: Vec<_> = asked.difference(&emitted).collect();
        assert!(unknown.is_empty(), "{file} asks for {unknown:?}");
    }
}

#[test]
fn the_dashboard_shows_every_series() {
    let breaker = fragile(&ManualClock::new()).build().unwrap();
    breaker.allow().unwrap().failure();
    let page = Scraper::new().observe(&breaker).page();
    let text = read("cutout.json");
    let unseen: Vec<_> = page
        .names()
        .difference(&series_in(&text))
        .copied()
        .collect();
    assert!(unseen.is_empty(), "{unseen:?}");
}

#[test]
fn each_label_value_in_them_is_one_that_is_emitted() {
    let breaker = fragile(&ManualClock::new()).build().unwrap();
    let text = Scraper::new().observe(&breaker).text();
    for file in ["cutout.json", "alerts.yml"] {
        let asked = read(file);
        for label in ["to", "cause", "state", "outcome", "kind"] {
            for value in values_in(&asked, label) {
                let emitted = text.contains(&format!("{label}=\"{value}\""));
                assert!(emitted, "{file} asks for {label}={value}");
            }
        }
    }
    assert!(values_in(&read("alerts.yml"), "cause").contains(Cause::LeaseLost.label()));
    assert!(values_in(&read("alerts.yml"), "to").contains(State::Open.label()));
}

#[test]
fn the_dashboard_is_well_formed() {
    let dashboard: Value = serde_json::from_str(&read("cutout.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let mut ids = BTreeSet::new();
    for panel in panels {
        let title = panel["title"].as_str().unwrap();
        assert!(
            ids.insert(panel["id"].as_u64().unwrap()),
            "{title}: id taken"
        );
        let at = |side: &str| panel["gridPos"][side].as_u64().unwrap();
        assert!(at("x") + at("w") <= 24, "{title} is out of the grid");
        let targets = panel["targets"].as_array().unwrap();
        for target in targets {
            let expr = target["expr"].as_str().unwrap();
            // The number of all breakers is no series of one of them.
            assert!(
                expr.contains("breaker=~\"$breaker\"") || expr.contains("(cutout_breakers{"),
                "{title} forgets its variable"
            );
            assert_eq!(target["datasource"]["uid"], "${datasource}", "{title}");
        }
    }
    let numbers = &panels
        .iter()
        .find(|panel| panel["title"] == "State")
        .unwrap()["fieldConfig"]["defaults"]["mappings"][0]["options"];
    let states = [
        State::Closed,
        State::Open,
        State::HalfOpen,
        State::ForcedOpen,
        State::Disabled,
        State::ObserveOnly,
    ];
    for (number, state) in states.iter().enumerate() {
        assert_eq!(numbers[number.to_string()]["text"], state.to_string());
    }
}

#[test]
fn each_alert_is_on_the_page_and_tested() {
    let (rules, tests, page) = (
        read("alerts.yml"),
        read("alerts.test.yml"),
        read("README.md"),
    );
    let alerts: Vec<_> = rules
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- alert: "))
        .collect();
    assert_eq!(alerts.len(), 10);
    for alert in alerts {
        assert!(
            page.contains(&format!("| `{alert}` |")),
            "{alert} is not on the page"
        );
        assert!(
            tests.contains(&format!("alertname: {alert}\n")),
            "{alert} has no test"
        );
    }
}
