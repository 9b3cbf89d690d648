//! What each format says of a call that failed, in a word: the label of its outcome.

use cutout_replay::input::{Input, Options, Progress, Source};

/// The labels of the calls of a text, empty for one that did not fail.
fn labels(text: &str) -> Vec<String> {
    let source = Source::Memory("test".into(), text.as_bytes().into());
    let mut input = Input::open(&[source], Options::default(), &Progress::default()).unwrap();
    let mut calls = Vec::new();
    while input.read(&mut calls, 100).unwrap() {}
    let (reading, _) = input.finish();
    assert_eq!(reading.skips(), 0, "{:?}", reading.examples);
    let label = |call: &cutout_replay::Call| reading.labels.name(call.label.into()).to_owned();
    calls.iter().map(label).collect()
}

#[test]
fn a_failure_is_labelled_by_its_status_or_by_what_says_more() {
    let all: &[(&str, &[&str])] = &[
        (
            r#"192.0.2.1 - - [22/Jan/2019:03:56:14 +0330] "GET /x HTTP/1.1" 503 30577 "-" "UA" "-"
192.0.2.1 - - [22/Jan/2019:03:56:14 +0330] "GET /x HTTP/1.1" 200 30577 "-" "UA" "-"
192.0.2.1 - - [22/Jan/2019:03:56:14 +0330] "GET /x HTTP/1.1" 404 30577 "-" "UA" "-""#,
            &["503", "", ""],
        ),
        (
            r#"[2016-04-15T20:17:00.310Z] "POST /x HTTP/2" 503 UF,URX 154 0 226 100 "192.0.2.1" "ua" "uuid" "host" "tcp://192.0.2.2:80""#,
            &["UF,URX"],
        ),
        (
            r#"{"duration":1441,"response_code":503,"response_flags":"-","start_time":"2021-12-07T08:37:28.358Z"}"#,
            &["503"],
        ),
        (
            r#"Dec 24 01:29:29 host haproxy[1]: 192.0.2.1:2630 [24/Dec/2014:01:29:29.273] fe be/srv1 22/0/0/-1/23 502 204 - - SH-- 0/0/0/0/0 0/0 "GET /x HTTP/1.0"
Dec 24 01:29:29 host haproxy[1]: 192.0.2.1:2630 [24/Dec/2014:01:29:29.274] fe be/srv1 22/0/0/1/23 500 204 - - --VN 0/0/0/0/0 0/0 "GET /x HTTP/1.0""#,
            &["SH", "500"],
        ),
        (
            r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"kind":3,"startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000100000000","status":{"code":2}}]}]}]}"#,
            &["error"],
        ),
        (
            "metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,proto,scenario,status,subproto,tls_version,url,extra_tags\n\
             http_req_duration,1595325561,0,,,1050,,,GET,http://h,HTTP/1.1,default,0,,,http://h,\n\
             http_req_duration,1595325562,0,,,1503,,,GET,http://h,HTTP/1.1,default,503,,,http://h,\n",
            &["1050", "1503"],
        ),
        (
            r#"{"attack":"a","seq":0,"code":0,"timestamp":"2022-03-17T17:12:32.077719034+01:00","latency":788624775,"error":"Post \"https://h/x?key=secret\": can't send request"}"#,
            &["no response"],
        ),
        (
            r#"{"id":"x","status":"failure","startTime":1700000000.0,"endTime":1700000030.1,"error_information":{"error_code":"429","error_class":"RateLimitError"}}"#,
            &["RateLimitError"],
        ),
        (
            "timeStamp,elapsed,label,responseCode,responseMessage,success\n\
             1703888760111,30000,x,Non HTTP response code: java.net.SocketTimeoutException,Read timed out,false\n",
            &["Non HTTP response code: java.net.SocketTimeoutException"],
        ),
        (
            r#"{"ts":"2026-01-02T03:04:05.678Z","duration_ms":1350,"status":503,"route":"c","target":"b","attempts":[{"target":"a","status":503,"outcome":"failure","duration_ms":100},{"target":"b","status":null,"outcome":"timeout","error":"nothing for 30s","duration_ms":1000},{"target":"c","status":null,"outcome":"timeout","duration_ms":250}]}"#,
            &["503", "nothing for 30s", "timeout"],
        ),
        (
            "start_unix_s,duration_ms,status,key\n1401198649.5,,dns,s1\n1401198649.6,,502,s1\n",
            &["dns", "502"],
        ),
    ];
    for (text, said) in all {
        assert_eq!(labels(text), *said, "{text}");
    }
}

#[test]
fn a_label_is_short_and_holds_no_query_and_there_are_not_many() {
    let rows: String = (0..3_000)
        .map(|row| {
            format!(
                "{},5,x,Non HTTP: https://h/{row}?token=hidden{},m,false\n",
                1_703_888_760_111_u64 + row,
                "x".repeat(100)
            )
        })
        .collect();
    let text = format!("timeStamp,elapsed,label,responseCode,responseMessage,success\n{rows}");
    let labels = labels(&text);
    assert_eq!(labels[0], "Non HTTP: https://h/0?…");
    assert_eq!(labels.iter().filter(|label| !label.is_empty()).count(), 999);
}
