//! One line of each format and what it says: when the call began, how long it took, what it came to, where it went.

use cutout::Outcome::{self, Answered, Failure, Ignored, Success, Timeout};
use cutout_replay::input::{By, FormatName, Input, Options, Progress, Reading, Source};
use cutout_replay::{Call, Keys};
use jiff::Timestamp;

fn read(text: &str, options: Options) -> (Vec<Call>, Keys, Reading) {
    let source = Source::Memory("test".into(), text.as_bytes().into());
    let mut input = Input::open(&[source], options, &Progress::default()).unwrap();
    let mut calls = Vec::new();
    while input.read(&mut calls, 100).unwrap() {}
    let (reading, keys) = input.finish();
    (calls, keys, reading)
}

fn by_upstream() -> Options {
    Options {
        by: By::Upstream,
        ..Options::default()
    }
}

/// `(start, nanoseconds, outcome, upstream)` of each call.
type Said<'a> = (&'a str, u64, Outcome, &'a str);

fn check(format: &str, options: &Options, text: &str, said: &[Said<'_>]) {
    let (calls, keys, reading) = read(text, options.clone());
    assert_eq!(
        reading.inputs[0].format,
        FormatName::named(format).unwrap(),
        "{text}"
    );
    assert_eq!(reading.skipped.len(), 0, "{format}: {:?}", reading.examples);
    let said: Vec<_> = said
        .iter()
        .map(|&(start, took, outcome, key)| {
            let start: Timestamp = start.parse().unwrap();
            (
                i64::try_from(start.as_nanosecond()).unwrap(),
                took,
                outcome,
                key,
            )
        })
        .collect();
    let read: Vec<_> = calls
        .iter()
        .map(|call| (call.start, call.took, call.outcome, keys.name(call.key)))
        .collect();
    assert_eq!(read, said, "{format}");
}

const MS: u64 = 1_000_000;

#[test]
fn each_format_is_found_by_itself_and_says_when_how_long_what_and_where() {
    let options = by_upstream();
    let all: &[(&str, &str, &[Said<'_>])] = &[
        // The stamp is the end, in whole seconds; the upstream's own time is taken, not the slow client's.
        (
            "nginx-times",
            r#"192.0.2.1 - - [26/Jul/2019:04:54:00 +0000] "GET /x HTTP/1.1" 200 193076 "-" "UA" rt=0.136 uct="0.060, 0.000" uht="0.120, 0.012" urt="0.120, 0.016" us="502, 200" ua="192.0.2.9:80, 192.0.2.8:80" "#,
            &[(
                "2019-07-26T04:53:59.864Z",
                136 * MS,
                Success,
                "192.0.2.8:80",
            )],
        ),
        // A pod's name and another stamp before it.
        (
            "ingress-nginx",
            r#"ingress-7d 2026-10-05T22:04:58.1Z 192.0.2.1 - - [05/Oct/2026:22:04:57 +0000] "POST /x HTTP/2.0" 503 87 "-" "ua" 628 0.025 [ns-svc-3000] [] 192.0.2.8:3000 87 0.025 503 reqid"#,
            &[("2026-10-05T22:04:56.975Z", 25 * MS, Failure, "ns-svc-3000")],
        ),
        (
            "traefik",
            r#"192.0.2.1 - - [02/Oct/2019:02:47:34 +0000] "GET /x HTTP/1.1" 504 15 "-" "-" 2 "svc@docker" "http://192.0.2.2:9000" 29970ms"#,
            &[(
                "2019-10-02T02:47:34Z",
                29_970 * MS,
                Timeout,
                "192.0.2.2:9000",
            )],
        ),
        (
            "envoy",
            r#"[2016-04-15T20:17:00.310Z] "POST /x HTTP/2" 204 - 154 0 226 100 "192.0.2.1" "ua" "uuid" "host" "tcp://192.0.2.2:80""#,
            &[(
                "2016-04-15T20:17:00.310Z",
                226 * MS,
                Success,
                "192.0.2.2:80",
            )],
        ),
        // No status: the client left.
        (
            "envoy",
            r#"[2016-04-15T20:17:00.310Z] "POST /x HTTP/2" 0 DC 154 0 226 - "192.0.2.1" "ua" "uuid" "host" "-""#,
            &[("2016-04-15T20:17:00.310Z", 226 * MS, Ignored, "-")],
        ),
        (
            "istio",
            r#"[2026-10-08T21:05:13.152Z] "GET /x HTTP/1.1" 504 UT response_timeout - "-" 0 24 999 - "-" "ua" "uuid" "svc:9080" "192.0.2.2:9080" outbound|9080|v2|svc.ns.svc.cluster.local 192.0.2.3:1 192.0.2.4:9080 192.0.2.5:2 - -"#,
            &[(
                "2026-10-08T21:05:13.152Z",
                999 * MS,
                Timeout,
                "svc.ns.svc.cluster.local",
            )],
        ),
        (
            "envoy-json",
            r#"{"duration":1441,"response_code":503,"response_flags":"UC","response_code_details":"upstream_reset_before_response_started{connection_termination}","upstream_service_time":null,"bytes_sent":95,"start_time":"2021-12-07T08:37:28.358Z","method":"PUT","path":"/x","route_name":"r"}"#,
            &[("2021-12-07T08:37:28.358Z", 1_441 * MS, Failure, "r")],
        ),
        // Numbers as strings.
        (
            "envoy-json",
            r#"{"duration":"7","response_code":"0","response_flags":"DC","start_time":"2021-12-07T08:37:28.358Z","upstream_cluster":"c"}"#,
            &[("2021-12-07T08:37:28.358Z", 7 * MS, Ignored, "c")],
        ),
        (
            "caddy",
            r#"caddy  | {"level":"info","ts":1716723772.6014807,"logger":"http.log.access","msg":"handled request","request":{"method":"GET","host":"h","uri":"/x"},"duration":0.017557019,"size":3768,"status":200}"#,
            &[("2024-05-26T11:42:52.583923681Z", 17_557_019, Success, "h")],
        ),
        (
            "traefik-json",
            r#"{"DownstreamStatus":403,"Duration":19808199303,"OriginDuration":0,"OriginStatus":0,"RetryAttempts":0,"RouterName":"r@docker","StartUTC":"2026-04-30T11:33:11.203370405Z","StartLocal":"2026-04-30T21:33:11.203370405+10:00","time":"2026-04-30T21:33:31+10:00"}"#,
            &[(
                "2026-04-30T11:33:11.203370405Z",
                19_808_199_303,
                Answered,
                "r@docker",
            )],
        ),
        (
            "haproxy",
            r#"Dec 24 01:29:29 host haproxy[1]: 192.0.2.1:2630 [24/Dec/2014:01:29:29.273] fe be/srv1 22/0/0/-1/23 502 204 - - SH-- 0/0/0/0/0 0/0 "GET /x HTTP/1.0""#,
            &[("2014-12-24T01:29:29.273Z", 23 * MS, Failure, "be/srv1")],
        ),
        // No status, a client that left, a time that was not over yet.
        (
            "haproxy",
            r#"Dec 24 01:29:29 host haproxy[1]: 192.0.2.1:2630 [24/Dec/2014:01:29:29.273] fe be/<NOSRV> -1/-1/-1/-1/+42 -1 0 - - CR-- 0/0/0/0/0 0/0 "<BADREQ>""#,
            &[("2014-12-24T01:29:29.273Z", 42 * MS, Ignored, "be/<NOSRV>")],
        ),
        // -1 thrice: no phase was reached; the time is from the request's creation to its end.
        (
            "alb",
            r#"http 2020-06-05T07:27:53.050517Z app/lb/id 192.0.2.1:55956 - -1 -1 -1 503 - 120 353 "GET http://h:80/x HTTP/1.1" "ua" - - arn:tg "Root=1-x" "-" "-" 0 2020-06-05T07:27:53.050000Z "forward" "-" "-" "-" "-""#,
            &[("2020-06-05T07:27:53.05Z", 517_000, Failure, "arn:tg")],
        ),
        (
            "cloudfront",
            "#Version: 1.0\n2019-12-04\t21:02:31\tLAX1\t392\t192.0.2.100\tGET\td.cloudfront.net\t/x\t200\t-\tua\t-\t-\tMiss\tid\th\thttps\t23\t0.001\n\
             2019-12-04\t21:02:31\tLAX1\t392\t192.0.2.100\tGET\td.cloudfront.net\t/x\t200\t-\tua\t-\t-\tHit\tid\th\thttps\t23\t0.001\n\
             2019-12-04\t21:02:32\tLAX1\t392\t192.0.2.100\tGET\td.cloudfront.net\t/x\t000\t-\tua\t-\t-\tError\tid\th\thttps\t23\t1.5\n",
            &[
                (
                    "2019-12-04T21:02:30.5Z",
                    1_500 * MS,
                    Ignored,
                    "d.cloudfront.net",
                ),
                ("2019-12-04T21:02:30.999Z", MS, Success, "d.cloudfront.net"),
            ],
        ),
        (
            "gcp",
            r#"{"httpRequest":{"requestMethod":"GET","requestUrl":"https://h/x","status":200,"latency":"0.025376s"},"jsonPayload":{"statusDetails":"response_sent_by_backend"},"resource":{"labels":{"backend_service_name":"b"}},"timestamp":"2021-09-10T22:28:33.000000Z","receiveTimestamp":"2021-09-10T22:28:33.356191462Z"}"#,
            &[("2021-09-10T22:28:33Z", 25_376_000, Success, "b")],
        ),
        // Snake case, and no status: the client's certificate was refused.
        (
            "gcp",
            r#"{"http_request":{"request_url":"https://h/x","latency":"0.001s"},"json_payload":{"status_details":"client_cert_not_provided"},"resource":{"labels":{"backend_service_name":""}},"timestamp":"2021-09-10T22:28:33Z"}
{"http_request":{"request_url":"https://h/x","latency":"0.001s","status":"502"},"resource":{"labels":{"backend_service_name":"b"}},"timestamp":"2021-09-10T22:28:34Z"}"#,
            &[
                ("2021-09-10T22:28:33Z", MS, Ignored, ""),
                ("2021-09-10T22:28:34Z", MS, Failure, "b"),
            ],
        ),
        (
            "kong",
            r#"{"latencies":{"request":33,"kong":33,"proxy":0},"service":{"name":"s"},"response":{"status":200},"tries":[{"balancer_latency":0,"port":3000,"ip":"192.0.2.3"}],"started_at":1509202924971}"#,
            &[("2017-10-28T15:02:04.971Z", 33 * MS, Success, "s")],
        ),
        // Batches are arrays.
        (
            "kong",
            r#"[{"latencies":{"request":33},"service":{"name":"s"},"response":{"status":200},"started_at":1509202924971},{"latencies":{"request":34},"service":{"name":"s"},"response":{"status":500},"started_at":1509202924972}]"#,
            &[
                ("2017-10-28T15:02:04.971Z", 33 * MS, Success, "s"),
                ("2017-10-28T15:02:04.972Z", 34 * MS, Failure, "s"),
            ],
        ),
        // A client span, its server span, which is the same call, and an inner one; nanoseconds as text and beyond 2^53.
        (
            "otlp",
            r#"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"s"}}]},"scopeSpans":[{"spans":[{"traceId":"t","spanId":"a","kind":3,"startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000100000000","status":{"code":2},"attributes":[{"key":"peer.service","value":{"stringValue":"u"}}]},{"traceId":"t","spanId":"b","parentSpanId":"a","kind":2,"startTimeUnixNano":1700000000010000001,"endTimeUnixNano":1700000000090000000,"status":{}},{"traceId":"t","spanId":"c","kind":1,"startTimeUnixNano":"1","endTimeUnixNano":"2"}]}]}]}"#,
            &[("2023-11-14T22:13:20Z", 100 * MS, Failure, "u")],
        ),
        (
            "k6",
            "metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,proto,scenario,status,subproto,tls_version,url,extra_tags\n\
             http_reqs,1595325560,1.000000,,,,,,GET,http://h,HTTP/1.1,default,200,,,http://h,\n\
             http_req_duration,1595325560,221.899000,,,,,,GET,http://h,HTTP/1.1,default,200,,,http://h,\n\
             http_req_duration,1595325561,0,,,1050,,,GET,http://h,HTTP/1.1,default,0,,,http://h,\n",
            &[
                ("2020-07-21T09:59:19.778101Z", 221_899_000, Success, "h"),
                ("2020-07-21T09:59:21Z", 0, Timeout, "h"),
            ],
        ),
        (
            "vegeta",
            r#"{"attack":"a","seq":0,"code":0,"timestamp":"2022-03-17T17:12:32.077719034+01:00","latency":788624775,"bytes_out":0,"bytes_in":0,"error":"Post \"https://h/x\": can't send request"}"#,
            &[("2022-03-17T16:12:32.077719034Z", 788_624_775, Failure, "a")],
        ),
        (
            "litellm",
            r#"{"id":"x","trace_id":"t","status":"failure","startTime":1700000000.0,"endTime":1700000030.1,"response_time":30.1,"model":"m","model_group":"g","model_id":"d","api_base":"h","error_information":{"error_code":"429","error_class":"RateLimitError"}}"#,
            &[("2023-11-14T22:13:20Z", 30_100 * MS, Failure, "d")],
        ),
        // Without a header; a transaction's row sums others; a Java class for a status.
        (
            "jmeter",
            "1703888759111,1438,HTTP Request,200,OK,TG 1-22,text,true,,52560,120,100,100,http://h/,1106,0,209\n\
             1703888759111,1438,Transaction,,\"Number of samples in transaction : 1, number of failing samples : 0\",TG 1-22,,true,,52560,120,100,100,null,1106,0,209\n\
             1703888760111,30000,HTTP Request,Non HTTP response code: java.net.SocketTimeoutException,Read timed out,TG 1-22,text,false,,0,0,100,100,http://h/,0,0,209\n",
            &[
                ("2023-12-29T22:25:59.111Z", 1_438 * MS, Success, "h"),
                ("2023-12-29T22:26:00.111Z", 30_000 * MS, Timeout, "h"),
            ],
        ),
        // Two attempts at one target are one call; those at two are two.
        (
            "gateway",
            r#"{"ts":"2026-01-02T03:04:05.678Z","duration_ms":1350,"status":200,"route":"chat","model":"m","target":"b","attempts":[{"target":"a","status":503,"outcome":"failure","duration_ms":100},{"target":"a","status":null,"outcome":"timeout","duration_ms":1000},{"target":"b","status":200,"outcome":"success","duration_ms":250}],"id":"x","key":"k","tokens_in":1,"tokens_out":2,"stream":false}"#,
            &[
                ("2026-01-02T03:04:05.678Z", 1_100 * MS, Timeout, "a"),
                ("2026-01-02T03:04:06.778Z", 250 * MS, Success, "b"),
            ],
        ),
        // A request that no target was asked for, and one whose caller left.
        (
            "gateway",
            r#"{"ts":"2026-01-02T03:04:05.678Z","duration_ms":0.4,"status":503,"route":"chat","target":null,"attempts":[]}
{"ts":"2026-01-02T03:04:06Z","duration_ms":12.5,"status":null,"route":"chat","target":null,"attempts":[{"target":"a","status":null,"outcome":"abandoned","error":null,"duration_ms":12.25}]}"#,
            &[("2026-01-02T03:04:06Z", 12_250_000, Ignored, "a")],
        ),
        (
            "csv",
            "start_unix_s,duration_ms,status,key\n1401198648.263,1659,200,s1\n1401198649.5,,dns,s1\n",
            &[
                ("2014-05-27T13:50:48.263Z", 1_659 * MS, Success, "s1"),
                ("2014-05-27T13:50:49.5Z", 0, Failure, "s1"),
            ],
        ),
        (
            "json-lines",
            r#"{"ts":1401198648263,"latency_us":"1659","status":499,"host":"s1"}"#,
            &[("2014-05-27T13:50:48.263Z", 1_659_000, Ignored, "s1")],
        ),
    ];
    for (format, text, said) in all {
        check(format, &options, text, said);
    }
}

#[test]
fn formats_that_name_no_upstream_are_read_too() {
    let options = Options::default();
    // The offset counts.
    check(
        "combined",
        &options,
        r#"192.0.2.1 - - [22/Jan/2019:03:56:14 +0330] "GET /x HTTP/1.1" 200 30577 "-" "UA" "-""#,
        &[("2019-01-22T00:26:14Z", 0, Success, "")],
    );
    // Apache stamps the start.
    check(
        "apache-times",
        &options,
        r#"192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /x HTTP/1.0" 200 2326 "-" "UA" 5129 0"#,
        &[("2000-10-10T20:55:36Z", 5_129_000, Success, "")],
    );
}

#[test]
fn each_attempt_is_a_call_where_that_is_asked_for() {
    let options = Options {
        attempts: true,
        ..by_upstream()
    };
    check(
        "nginx-times",
        &options,
        r#"192.0.2.1 - - [26/Jul/2019:04:54:00 +0000] "GET /x HTTP/1.1" 200 1 "-" "UA" rt=0.200 urt="0.120, 0.016" us="502, 200" ua="192.0.2.9:80, 192.0.2.8:80""#,
        &[
            ("2019-07-26T04:53:59.8Z", 120 * MS, Failure, "192.0.2.9:80"),
            ("2019-07-26T04:53:59.92Z", 16 * MS, Success, "192.0.2.8:80"),
        ],
    );
}

#[test]
fn both_sidecars_of_a_call_count_once_and_two_calls_of_one_request_count_twice() {
    let line = |cluster: &str, ms: u32| {
        format!(
            r#"[2026-10-08T21:05:13.{ms}Z] "GET /x HTTP/1.1" 200 - via_upstream - "-" 0 24 9 - "-" "ua" "uuid" "svc:9080" "192.0.2.2:9080" {cluster} 192.0.2.3:1 192.0.2.4:9080 192.0.2.5:2 - -{}"#,
            "\n"
        )
    };
    let (out, inner) = ("outbound|9080|v2|svc.ns", "inbound|9080||");
    let text = [
        line(out, 100),
        line(inner, 101),
        line(out, 200),
        line(inner, 201),
    ]
    .concat();
    let (calls, keys, reading) = read(&text, by_upstream());
    assert_eq!((calls.len(), reading.duplicates, keys.len()), (2, 2, 2));
    assert_eq!(keys.name(calls[1].key), "svc.ns");
}

#[test]
fn a_stamp_without_a_zone_is_in_the_zone_that_is_given() {
    let options = Options {
        zone: jiff::tz::TimeZone::get("Europe/Berlin").unwrap(),
        ..by_upstream()
    };
    check(
        "haproxy",
        &options,
        r#"haproxy[1]: 192.0.2.1:2630 [24/Dec/2014:01:29:29.273] fe be/srv1 22/0/0/1/23 200 204 - - ---- 0/0/0/0/0 0/0 "GET /x HTTP/1.0""#,
        &[("2014-12-24T00:29:29.273Z", 23 * MS, Success, "be/srv1")],
    );
}

#[test]
fn columns_are_what_the_map_says_they_are() {
    let options = Options {
        map: Some(
            "time=when,status=code,duration=latency:ms,key=who.host"
                .parse()
                .unwrap(),
        ),
        by: By::Upstream,
        ..Options::default()
    };
    let said: &[Said<'_>] = &[("2014-05-27T13:50:48.263Z", 1_500_000, Timeout, "h")];
    let json = r#"{"when":"2014-05-27 13:50:48.263","latency":1.5,"code":504,"who":{"host":"h"}}"#;
    check("json-lines", &options, json, said);
    let csv = "code;when;latency;who.host\n504;2014-05-27T13:50:48.263Z;1.5;https://h?key=secret\n";
    let said: &[Said<'_>] = &[("2014-05-27T13:50:48.263Z", 1_500_000, Timeout, "https://h")];
    check("csv", &options, csv, said);
}

#[test]
fn several_files_are_one_log_in_whatever_order_they_are_given() {
    let file = |name: &str, starts: &[u32]| {
        let rows: Vec<String> = starts
            .iter()
            .map(|start| format!("{start}.5,1,200,a\n"))
            .collect();
        let text = format!("start_unix_s,duration_ms,status,key\n{}", rows.concat());
        Source::Memory(name.into(), text.as_bytes().into())
    };
    let day: Vec<u32> = (0..500).map(|call| 1_401_200_000 + call * 100).collect();
    let later: Vec<u32> = (0..500).map(|call| 1_401_249_900 + call * 100).collect();
    let among = [1_401_220_001, 1_401_220_003];
    let sources = [
        file("later", &later),
        file("day", &day),
        file("among", &among),
    ];
    let mut input = Input::open(&sources, Options::default(), &Progress::default()).unwrap();
    let mut calls = Vec::new();
    while input.read(&mut calls, 7).unwrap() {}
    assert_eq!(calls.len(), 1002);
    assert!(calls.is_sorted_by_key(|call| call.start));
    assert_eq!(input.reading().skips(), 0);
}
