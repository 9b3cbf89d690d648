//! The process is killed in the middle of its writing, a hundred times. Each time the database
//! opens, and no stored state is older than the last stored transition of its breaker.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use cutout::State;
use cutout_gateway::store::{Options, Saved, Store};
use serde_json::Value;

const KILLS: u64 = 100;
const TOKEN: &str = "the-operators";
const BREAKERS: [&str; 3] = ["a", "b", "c"];

#[test]
fn a_hundred_kills_leave_a_database_that_opens_and_is_not_behind_itself() {
    let folder = Folder::new();
    let mut before = Saved::default();
    let mut cut_short = 0;
    for kill in 1..=KILLS {
        let gateway = Gateway::start(&folder);
        gateway.resumes_from(&before);
        let made = AtomicU64::new(0);
        let over = AtomicBool::new(false);
        let mut written = 0;
        thread::scope(|scope| {
            for breaker in BREAKERS {
                let (gateway, made, over) = (&gateway, &made, &over);
                scope.spawn(move || gateway.flip(breaker, made, over));
            }
            // The moments are spread over the first tenth of a second of writing.
            let moment = Duration::from_micros(kill.wrapping_mul(7_919) % 100 * 1_000);
            thread::sleep(moment);
            written = gateway.written();
            gateway.kill();
            over.store(true, Relaxed);
        });

        let (store, after) = Store::open(&folder.database(), Options::default())
            .unwrap_or_else(|problem| panic!("after kill {kill}: {problem}"));
        drop(store);
        assert_eq!(after.unreadable, [], "after kill {kill}");
        let stored = last_id(&after) - last_id(&before);
        assert!(stored >= written, "what is said to be written is there");
        for breaker in BREAKERS {
            is_not_behind(&after, breaker);
        }
        cut_short += u64::from(made.load(Relaxed) > stored);
        before = after;
    }
    println!("{cut_short} of {KILLS} kills came while something waited to be written");
    assert!(cut_short > 0, "no kill came in the middle");
    assert!(last_id(&before) > KILLS, "something was written");
}

fn last_id(saved: &Saved) -> u64 {
    saved.transitions.last().map_or(0, |last| last.id)
}

fn is_not_behind(saved: &Saved, breaker: &str) {
    let mut transitions = saved.transitions.iter().rev();
    let Some(last) = transitions.find(|transition| transition.breaker == breaker) else {
        return;
    };
    let snapshot = &saved.snapshots[breaker];
    assert!(
        snapshot.generation >= last.generation,
        "{breaker}: a snapshot of generation {}, a transition to {}",
        snapshot.generation,
        last.generation
    );
    if snapshot.generation == last.generation {
        assert_eq!(snapshot.state.to_string(), last.to, "{breaker}");
    }
}

/// A folder of its own, gone at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("cutout-kill-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        let mut config = format!(
            "[server]\nlisten = \"127.0.0.1:0\"\nadmin_token = {{ file = {:?} }}\n[store]\npath = \"health.sqlite\"\n",
            path.join("token")
        );
        for breaker in BREAKERS {
            config += &format!(
                "[[provider]]\nname = \"{breaker}\"\nbase_url = \"http://127.0.0.1:1/v1\"\n"
            );
        }
        config += "[[route]]\nmodel = \"m\"\nqueue = [{ provider = \"a\" }]\n";
        fs::write(path.join("gateway.toml"), config).unwrap();
        fs::write(path.join("token"), TOKEN).unwrap();
        Self(path)
    }

    fn database(&self) -> PathBuf {
        self.0.join("health.sqlite")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

struct Gateway {
    process: Mutex<Child>,
    address: String,
}

impl Gateway {
    fn start(folder: &Folder) -> Self {
        let config: &Path = &folder.0.join("gateway.toml");
        let mut process = Command::new(env!("CARGO_BIN_EXE_cutout-gateway"))
            .arg(config)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line.trim().rsplit('/').next().unwrap().to_owned();
        Self {
            process: Mutex::new(process),
            address,
        }
    }

    /// Each breaker goes on from its stored snapshot.
    fn resumes_from(&self, saved: &Saved) {
        let state = self.get("/admin/state");
        for breaker in state["breakers"].as_array().unwrap() {
            let Some(snapshot) = saved.snapshots.get(breaker["name"].as_str().unwrap()) else {
                continue;
            };
            assert_eq!(breaker["generation"], snapshot.generation);
            // A stored half-open breaker resumes as open with nothing left to wait, which reads the same.
            let state = State::to_string(&snapshot.state);
            assert_eq!(breaker["state"], state.as_str());
        }
    }

    /// Makes transitions until the process is gone.
    fn flip(&self, breaker: &str, made: &AtomicU64, over: &AtomicBool) {
        let actions = ["disable", "force_open", "observe_only", "close"];
        for action in actions.iter().cycle() {
            let path = format!("/admin/breakers/{breaker}/{action}");
            let body = r#"{"reason":"the test flips it"}"#;
            if over.load(Relaxed) || self.call("POST", &path, body).is_none() {
                return;
            }
            made.fetch_add(1, Relaxed);
        }
    }

    /// How many transitions the gateway says are in the database.
    fn written(&self) -> u64 {
        self.get("/admin/state")["store"]["transitions"]
            .as_u64()
            .unwrap()
    }

    fn get(&self, path: &str) -> Value {
        self.call("GET", path, "").unwrap()
    }

    /// The JSON of an answer; none if there was no answer.
    fn call(&self, method: &str, path: &str, body: &str) -> Option<Value> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\nauthorization: Bearer {TOKEN}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        stream.write_all((head + body).as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (_, body) = answer.split_once("\r\n\r\n")?;
        serde_json::from_str(body).ok()
    }

    fn kill(&self) {
        // On Unix this is SIGKILL.
        let mut process = self.process.lock().unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.kill();
    }
}
