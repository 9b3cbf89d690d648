//! The program: its command line, and what signals do.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_cutout-gateway");
const PROVIDER: &str = "[[provider]]\nname = \"a\"\nbase_url = \"http://x/v1\"\n";
const ROUTE: &str = "[[route]]\nmodel = \"m\"\nqueue = [{ provider = \"a\" }]\n";

/// A folder for one test, gone when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("cutout-program-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn run(arguments: &[&str]) -> Output {
    Command::new(PROGRAM).args(arguments).output().unwrap()
}

#[test]
fn a_configuration_can_be_checked_without_serving() {
    let folder = Folder::new("check");
    let good = folder.write("good.toml", &format!("{PROVIDER}{ROUTE}"));
    let shown = run(&[good.to_str().unwrap(), "--check"]);
    assert!(shown.status.success());
    assert!(String::from_utf8_lossy(&shown.stdout).contains("is in order"));
    let bad = folder.write("bad.toml", "[[provider]]\nname = \"a\"\nbase_url = 5\n");
    for arguments in [
        vec![bad.to_str().unwrap(), "--check"],
        vec![bad.to_str().unwrap()],
    ] {
        let shown = run(&arguments);
        assert_eq!(shown.status.code(), Some(1));
        let problem = String::from_utf8_lossy(&shown.stderr).into_owned();
        assert!(
            problem.contains("bad.toml: line 3: provider[0].base_url: "),
            "{problem}"
        );
    }
    let missing = run(&["/nonexistent/x.toml"]);
    assert!(String::from_utf8_lossy(&missing.stderr).contains("cannot be read"));
    assert_eq!(run(&[]).status.code(), Some(2));
    assert_eq!(run(&["--seconds", "3"]).status.code(), Some(2));
}

#[test]
fn a_key_that_cannot_be_found_is_named_and_nothing_is_served() {
    let folder = Folder::new("key");
    let config = format!("{PROVIDER}api_key = {{ env = \"CUTOUT_NO_SUCH_KEY\" }}\n{ROUTE}");
    let path = folder.write("g.toml", &config);
    let shown = run(&[path.to_str().unwrap()]);
    let problem = String::from_utf8_lossy(&shown.stderr).into_owned();
    assert!(
        problem.contains(
            "line 4: provider[0].api_key: the environment variable CUTOUT_NO_SUCH_KEY is not set"
        ),
        "{problem}"
    );
}

#[test]
fn a_check_finds_what_the_start_would() {
    let folder = Folder::new("check-all");
    let unset = "{ env = \"CUTOUT_NO_SUCH_KEY\" }";
    for (config, field) in [
        (
            format!("{PROVIDER}api_key = {unset}\n{ROUTE}"),
            "line 4: provider[0].api_key",
        ),
        (
            format!("[server]\nadmin_token = {unset}\n{PROVIDER}{ROUTE}"),
            "line 2: server.admin_token",
        ),
        (
            format!("[server]\nclient_keys = [{unset}]\n{PROVIDER}{ROUTE}"),
            "line 2: server.client_keys[0]",
        ),
        (
            format!("[webhook]\nurl = \"http://x\"\ntoken = {unset}\n{PROVIDER}{ROUTE}"),
            "line 3: webhook.token",
        ),
        (PROVIDER.to_owned(), "route: there is no [[route]]"),
        (String::new(), "route: there is no [[route]]"),
    ] {
        let path = folder.write("g.toml", &config);
        for arguments in [
            vec![path.to_str().unwrap(), "--check"],
            vec![path.to_str().unwrap()],
        ] {
            let shown = run(&arguments);
            let problem = String::from_utf8_lossy(&shown.stderr).into_owned();
            assert_eq!(shown.status.code(), Some(1), "{arguments:?} {config}");
            assert!(problem.contains(field), "{problem} is not {field}");
        }
    }
    // What is legal and hardly meant is said, and no failure: the start would not fail either.
    let all = "[server]\nlisten = \"0.0.0.0:8080\"\n";
    let path = folder.write("g.toml", &format!("{all}{PROVIDER}{ROUTE}"));
    let shown = run(&[path.to_str().unwrap(), "--check"]);
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.status.success(), "{text}");
    assert!(
        text.contains("without client_keys only this machine"),
        "{text}"
    );
    assert!(
        text.contains("without admin_token only this machine"),
        "{text}"
    );
    let path = folder.write(
        "g.toml",
        &format!("{all}allow_without_key = true\n{PROVIDER}{ROUTE}"),
    );
    let shown = run(&[path.to_str().unwrap(), "--check"]);
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(text.contains("everyone who reaches 0.0.0.0:8080"), "{text}");
    let breaker = "breaker = { failure_ratio = \"none\", consecutive_failures = 2 }\n";
    let path = folder.write("g.toml", &format!("{PROVIDER}{breaker}{ROUTE}"));
    let shown = run(&[path.to_str().unwrap(), "--check"]);
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    let warned = "opens by chance about once in 10100 calls";
    assert!(shown.status.success() && text.contains(warned), "{text}");
}

#[test]
fn the_token_that_is_made_at_the_start_is_said_once_and_never_logged() {
    let folder = Folder::new("token");
    let config = format!("[server]\nlisten = \"127.0.0.1:0\"\n{PROVIDER}{ROUTE}");
    let path = folder.write("g.toml", &config);
    let log = fs::File::create(folder.0.join("log")).unwrap();
    let mut child = Command::new(PROGRAM)
        .arg(&path)
        .env("RUST_LOG", "trace")
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    lines.read_line(&mut said).unwrap();
    lines.read_line(&mut said).unwrap();
    let first = said.clone();
    let (url, token) = first.trim().rsplit_once("/#token=").expect("a token");
    let address = url.rsplit_once("http://").unwrap().1.to_owned();
    let ask = |token: &str| {
        let mut socket = TcpStream::connect(&address).unwrap();
        write!(
            socket,
            "GET /admin/state HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
             connection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer
    };
    assert!(ask(token).starts_with("HTTP/1.1 200"));
    assert!(ask("wrong").starts_with("HTTP/1.1 401"));
    assert!(!ask(token).contains(token));
    child.kill().unwrap();
    child.wait().unwrap();
    lines.read_to_string(&mut said).unwrap();
    said += &fs::read_to_string(folder.0.join("log")).unwrap();
    assert_eq!(said.matches(token).count(), 1, "{said}");
}

/// The program at work, ended when dropped.
struct Serving {
    child: Child,
    address: String,
}

impl Serving {
    fn start(config: &std::path::Path) -> Self {
        Self::start_in(config, &[])
    }

    fn start_in(config: &std::path::Path, environment: &[(&str, String)]) -> Self {
        let mut child = Command::new(PROGRAM)
            .arg(config)
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line
            .trim()
            .strip_prefix("listening on http://")
            .expect("an address")
            .to_owned();
        Self { child, address }
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args([name, &id])
                .status()
                .unwrap()
                .success()
        );
    }

    fn chat(&self) -> String {
        self.ask("POST /v1/chat/completions", "", r#"{"model":"m"}"#)
    }

    fn ask(&self, what: &str, key: &str, body: &str) -> String {
        let mut socket = TcpStream::connect(&self.address).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let length = body.len();
        write!(
            socket,
            "{what} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nauthorization: Bearer {key}\r\n\
             connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A provider that answers with the key that it was given.
fn echo_of_keys() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            let mut request = Vec::new();
            let mut piece = [0; 4096];
            while !request.ends_with(b"}") {
                let read = socket.read(&mut piece).unwrap_or(0);
                if read == 0 {
                    break;
                }
                request.extend_from_slice(&piece[..read]);
            }
            let text = String::from_utf8_lossy(&request).into_owned();
            let key = text
                .lines()
                .find_map(|line| line.strip_prefix("authorization: "))
                .unwrap_or("none");
            let body = format!("{{\"choices\":[{{\"text\":{key:?}}}]}}");
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
            let _ = write!(
                socket,
                "{head}\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
        }
    });
    url
}

#[test]
fn a_hangup_reads_keys_again_and_a_termination_ends_in_order() {
    let folder = Folder::new("signals");
    let key = folder.write("key", "old");
    let config = format!(
        "[server]\nlisten = \"127.0.0.1:0\"\n[store]\npath = \"health.sqlite\"\n\
         [[provider]]\nname = \"a\"\nbase_url = {:?}\napi_key = {{ file = {key:?} }}\n\
         [[route]]\nmodel = \"m\"\nqueue = [{{ provider = \"a\" }}]\n",
        echo_of_keys()
    );
    let mut serving = Serving::start(&folder.write("g.toml", &config));
    assert!(serving.chat().contains("Bearer old"));
    fs::write(&key, "new").unwrap();
    serving.signal("-HUP");
    let until = Instant::now() + Duration::from_secs(60);
    while !serving.chat().contains("Bearer new") {
        assert!(Instant::now() < until, "the key was never read again");
    }
    serving.signal("-TERM");
    assert!(serving.child.wait().unwrap().success());
    assert!(folder.0.join("health.sqlite").exists());
}

#[test]
fn a_hangup_begins_the_log_anew_when_its_file_was_moved_away() {
    let folder = Folder::new("rotated");
    let key = folder.write("key", "k");
    let config = format!(
        "[server]\nlisten = \"127.0.0.1:0\"\n[log]\nrequests = {{ file = \"requests.log\" }}\n\
         [[provider]]\nname = \"a\"\nbase_url = {:?}\napi_key = {{ file = {key:?} }}\n\
         [[route]]\nmodel = \"m\"\nqueue = [{{ provider = \"a\" }}]\n",
        echo_of_keys()
    );
    let mut serving = Serving::start(&folder.write("g.toml", &config));
    let log = folder.0.join("requests.log");
    let until = Instant::now() + Duration::from_secs(60);
    // The file is looked for once in a second anyway. Several turns take less, so that in most of them the signal alone can
    // have begun it anew; the first waits for the configuration to settle.
    for turn in 0..8 {
        let moved = folder.0.join(format!("requests.log.{turn}"));
        serving.chat();
        while !log.exists() {
            assert!(Instant::now() < until, "no line was written");
        }
        fs::rename(&log, &moved).unwrap();
        fs::write(&key, format!("k{turn}")).unwrap();
        serving.signal("-HUP");
        // Who sees the new key comes after the signal.
        let answer = loop {
            let answer = serving.chat();
            if answer.contains(&format!("Bearer k{turn}")) {
                break answer;
            }
            assert!(Instant::now() < until, "the signal was never heeded");
        };
        let id = answer.split_once("x-cutout-request-id: ").unwrap().1;
        let id = id.lines().next().unwrap();
        let has_line =
            |path: &PathBuf| fs::read_to_string(path).is_ok_and(|text| text.contains(id));
        while !has_line(&log) {
            assert!(
                !has_line(&moved),
                "in turn {turn} the line went to the file that was moved"
            );
            assert!(Instant::now() < until, "the line was never written");
        }
    }
    serving.signal("-TERM");
    assert!(serving.child.wait().unwrap().success());
}

/// A proxy that refuses all, and the lines with which it was asked.
fn refusing_proxy() -> (String, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (asked, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = BufReader::new(socket.unwrap());
            let mut line = String::new();
            socket.read_line(&mut line).unwrap();
            let _ = asked.send(line.trim().to_owned());
            while line.len() > 2 {
                line.clear();
                socket.read_line(&mut line).unwrap();
            }
            let refusal = "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n";
            let _ = socket.get_mut().write_all(refusal.as_bytes());
        }
    });
    (address, lines)
}

#[test]
fn the_environment_names_the_proxy_and_whom_it_is_not_for() {
    let folder = Folder::new("proxied");
    let (proxy, asked) = refusing_proxy();
    let config = |url: &str, more: &str| {
        let config = format!(
            "[server]\nlisten = \"127.0.0.1:0\"\n[log]\nrequests = \"off\"\n[[provider]]\nname = \"a\"\n\
             base_url = {url:?}\n{more}\n[[route]]\nmodel = \"m\"\nqueue = [{{ provider = \"a\" }}]\n"
        );
        folder.write("g.toml", &config)
    };
    let environment = [
        ("HTTP_PROXY", format!("http://us:hush-hush@{proxy}")),
        ("HTTPS_PROXY", format!("http://us:hush-hush@{proxy}")),
        ("NO_PROXY", "inside.invalid".to_owned()),
    ];
    let chat = |path: &PathBuf| Serving::start_in(path, &environment).chat();
    let answer = chat(&config("http://api.invalid/v1", ""));
    assert!(
        answer.contains("proxy_failed") && answer.contains(&proxy),
        "{answer}"
    );
    assert!(!answer.contains("hush"), "{answer}");
    assert_eq!(asked.recv().unwrap(), "CONNECT api.invalid:80 HTTP/1.1");
    let answer = chat(&config("https://api.invalid/v1", ""));
    assert!(answer.contains("proxy_failed"), "{answer}");
    assert_eq!(asked.recv().unwrap(), "CONNECT api.invalid:443 HTTP/1.1");
    for path in [
        config("http://a.inside.invalid/v1", ""),
        config("http://api.invalid/v1", "proxy = \"none\""),
    ] {
        assert!(chat(&path).contains("provider_unreachable"));
    }
    assert!(chat(&config(&echo_of_keys(), "")).starts_with("HTTP/1.1 200"));
    assert!(asked.try_recv().is_err());
    let wrong = Command::new(PROGRAM)
        .arg(config("http://api.invalid/v1", ""))
        .arg("--check")
        .env("HTTPS_PROXY", "socks5://us:hush-hush@p:1")
        .output()
        .unwrap();
    let problem = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(
        problem.contains("provider[0].proxy: the environment variable HTTPS_PROXY"),
        "{problem}"
    );
    assert!(!problem.contains("hush"), "{problem}");
}

#[test]
fn a_kill_loses_at_most_the_last_two_seconds_of_what_keys_have_spent() {
    /// What the writing itself may take on a busy machine.
    const BUSY: Duration = Duration::from_secs(1);
    let folder = Folder::new("spent");
    let (key, token) = (
        folder.write("key", "a-key"),
        folder.write("token", "a-token"),
    );
    let config = format!(
        "[server]\nlisten = \"127.0.0.1:0\"\nadmin_token = {{ file = {token:?} }}\n\
         client_keys = [{{ name = \"k\", file = {key:?} }}]\n[store]\npath = \"health.sqlite\"\n\
         [log]\nrequests = \"off\"\n[[provider]]\nname = \"a\"\nbase_url = {:?}\n\
         [[route]]\nmodel = \"m\"\nqueue = [{{ provider = \"a\" }}]\n",
        echo_of_keys()
    );
    let path = folder.write("g.toml", &config);
    let spent = |serving: &Serving| {
        let state = serving.ask("GET /admin/state", "a-token", "");
        let body = state.split_once("\r\n\r\n").unwrap().1;
        let state: serde_json::Value = serde_json::from_str(body).unwrap();
        let rows = state["spent"].as_array().unwrap();
        rows.iter()
            .map(|row| row["requests"].as_u64().unwrap())
            .sum::<u64>()
    };
    let mut kept = 0;
    // The second process goes on from what the first has left.
    for _ in 0..2 {
        let mut serving = Serving::start(&path);
        let begun = Instant::now();
        let mut ended = Vec::new();
        while begun.elapsed() < Duration::from_secs(5) {
            let answer = serving.ask("POST /v1/chat/completions", "a-key", r#"{"model":"m"}"#);
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
            ended.push(Instant::now());
        }
        let killed = Instant::now();
        // On Unix this is SIGKILL.
        serving.child.kill().unwrap();
        serving.child.wait().unwrap();
        let certain = killed - Duration::from_secs(2) - BUSY;
        let certain = ended.iter().filter(|ended| **ended < certain).count() as u64;
        assert!(certain > 0);
        let after = spent(&Serving::start(&path));
        let all = kept + ended.len() as u64;
        assert!(
            (kept + certain..=all).contains(&after),
            "{kept} + {certain}..={all}: {after}"
        );
        kept = after;
    }
}
