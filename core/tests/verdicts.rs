//! The tables of what answers say: complete, in order, as the docs show them, and open to change.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use cutout::Outcome::{Answered, Failure, Ignored, Success, Timeout};
use cutout::verdict::{Verdict, Verdicts};

#[test]
fn each_code_of_the_standards_has_one_row_and_a_reason() {
    for (table, codes) in [(Verdicts::http(), 100..=599), (Verdicts::grpc(), 0..=16)] {
        let mut rows = BTreeMap::new();
        for (of, verdict, why) in table.rows() {
            assert!(why.len() > 5, "{of:?}");
            for code in of.into_iter().flatten() {
                assert_eq!(rows.insert(code, verdict), None, "{code} twice");
                assert_eq!(table.of(code), verdict, "{code}");
                assert_eq!(table.why(code), why, "{code}");
            }
        }
        let known: Vec<i32> = rows.into_keys().collect();
        assert_eq!(known, codes.collect::<Vec<i32>>());
    }
}

#[test]
fn a_status_of_http_says_what_the_contract_says() {
    for code in 100..=599 {
        let expected = match code {
            100..=399 => Success,
            408 | 499 | 504 | 522 | 524 | 598 | 599 => Timeout,
            429 => Failure,
            400..=498 | 501 | 505 | 510 => Answered,
            _ => Failure,
        };
        assert_eq!(Verdicts::http().of(code).outcome, expected, "{code}");
    }
}

#[test]
fn a_code_of_grpc_says_what_the_status_of_http_does_that_it_is_mapped_to() {
    let of_http = [
        200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401,
    ];
    for (code, status) in (0..).zip(of_http) {
        let (grpc, http) = (Verdicts::grpc().of(code), Verdicts::http().of(status));
        assert_eq!(grpc.outcome, http.outcome, "{code} and {status}");
    }
}

#[test]
fn a_number_that_is_no_code_is_a_failure_that_no_retry_mends() {
    for code in [i32::MIN, -1, 0, 99, 600, 999, i32::MAX] {
        let verdict = Verdicts::http().of(code);
        assert_eq!((verdict.outcome, verdict.retry), (Failure, false), "{code}");
    }
    for code in [i32::MIN, -1, 17, i32::MAX] {
        let verdict = Verdicts::grpc().of(code);
        assert_eq!((verdict.outcome, verdict.retry), (Failure, false), "{code}");
    }
}

#[test]
fn waiting_is_heeded_where_an_upstream_is_not_well() {
    for (table, codes) in [(Verdicts::http(), 0..1000), (Verdicts::grpc(), -5..20)] {
        for code in codes {
            let verdict = table.of(code);
            if matches!(verdict.outcome, Failure | Timeout) {
                assert!(verdict.waits, "{code}");
            }
            assert!(verdict.outcome != Success || !(verdict.retry || verdict.waits));
        }
    }
}

#[test]
fn a_row_is_changed_without_a_closure_and_the_others_stay() {
    let changed = Verdicts::http()
        .with(404, Verdict::FAILURE)
        .with(500_u16, Ignored)
        .with(999, "retry".parse::<Verdict>().unwrap())
        .with(404, Verdict::RETRY);
    assert_eq!(changed.of(404), Verdict::RETRY);
    assert_eq!(changed.of(500), Verdict::IGNORED);
    assert_eq!(changed.of(999), Verdict::RETRY);
    for code in (100..600).filter(|code| ![404, 500].contains(code)) {
        assert_eq!(changed.of(code), Verdicts::http().of(code), "{code}");
    }
    assert_ne!(changed, Verdicts::http());
    assert_eq!(changed.clone(), changed);
}

#[test]
fn a_verdict_is_read_by_its_name_and_an_unknown_name_is_told_the_others() {
    for (name, outcome, retry) in [
        ("success", Success, false),
        ("answered", Answered, false),
        ("failure", Failure, false),
        ("timeout", Timeout, false),
        ("ignored", Ignored, false),
        ("retry", Failure, true),
    ] {
        let verdict: Verdict = name.parse().unwrap();
        assert_eq!((verdict.outcome, verdict.retry), (outcome, retry), "{name}");
        assert!(retry || Verdict::from(outcome) == verdict, "{name}");
        assert_eq!(verdict.name(), Some(name));
    }
    let error = "fail".parse::<Verdict>().unwrap_err().to_string();
    assert!(
        error.contains("answered") && error.contains("retry"),
        "{error}"
    );
}

#[test]
fn rows_are_changed_by_text_and_the_others_stay() {
    let http = Verdicts::http()
        .with_all([("404", Verdict::FAILURE), ("999", Verdict::IGNORED)])
        .unwrap();
    let same = Verdicts::http()
        .with(404, Verdict::FAILURE)
        .with(999, Verdict::IGNORED);
    assert_eq!(http, same);
    let grpc = Verdicts::grpc()
        .with_all([
            ("not_found", Failure),
            ("UNAVAILABLE", Ignored),
            ("16", Timeout),
        ])
        .unwrap();
    let same = Verdicts::grpc()
        .with(5, Failure)
        .with(14, Ignored)
        .with(16, Timeout);
    assert_eq!(grpc, same);
}

#[test]
fn a_text_that_is_no_code_is_refused_and_told_what_is() {
    let refused = |table: Verdicts, code| {
        let error = table.with_all([(code, Failure)]).unwrap_err();
        assert_eq!((error.field(), error.value()), ("code", code));
        error.to_string()
    };
    for code in [
        "",
        "4o4",
        "99",
        "1000",
        "-1",
        "5xx",
        "+404",
        " 404",
        "NOT_FOUND",
    ] {
        let error = refused(Verdicts::http(), code);
        assert!(error.ends_with("a status of HTTP, 100 to 999"), "{error}");
    }
    for code in ["", "17", "-1", "404", "NOT-FOUND", "9".repeat(99).as_str()] {
        let error = refused(Verdicts::grpc(), code);
        assert!(error.contains("0 to 16 or its name"), "{error}");
    }
    let twice = Verdicts::grpc().with_all([("5", Failure), ("Not_Found", Ignored)]);
    let error = twice.unwrap_err();
    assert_eq!(error.value(), "Not_Found");
    assert!(error.legal().starts_with("given once"), "{error}");
}

#[test]
fn a_code_of_grpc_has_the_name_that_its_row_begins_with() {
    let grpc = Verdicts::grpc();
    for code in 0..=16 {
        let name = grpc.why(code).split(':').next().unwrap();
        assert_eq!(grpc.code(name), Ok(code));
    }
}

/// The tables in the docs are those of the code; `CUTOUT_WRITE_TABLES=1` writes them.
#[test]
fn the_docs_show_these_tables() {
    for (file, verdicts) in [("http.md", Verdicts::http()), ("grpc.md", Verdicts::grpc())] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("src/contract/verdict")
            .join(file);
        let table = markdown(&verdicts);
        if std::env::var_os("CUTOUT_WRITE_TABLES").is_some() {
            std::fs::write(&path, &table).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap();
        assert_eq!(written, table, "{file}");
    }
}

fn markdown(verdicts: &Verdicts) -> String {
    let mut table = String::from(
        "| code | outcome | try again | heed its wait | why |\n| --- | --- | --- | --- | --- |\n",
    );
    for (codes, verdict, why) in verdicts.rows() {
        let codes = match codes {
            None => "any other".into(),
            Some(codes) if codes.start() == codes.end() => codes.start().to_string(),
            Some(codes) => format!("{} to {}", codes.start(), codes.end()),
        };
        let outcome = format!("{:?}", verdict.outcome).to_lowercase();
        let [retry, waits] =
            [verdict.retry, verdict.waits].map(|yes| if yes { "yes" } else { "no" });
        writeln!(table, "| {codes} | {outcome} | {retry} | {waits} | {why} |").unwrap();
    }
    table
}
