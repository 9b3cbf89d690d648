//! What a reload must never do, and what it cannot.

use cutout_gateway::demo::fake::{Fake, Mood};
use http::{HeaderValue, Method, StatusCode};

use crate::passing::{TempFile, tempfile};
use crate::rig::{Rig, chat, fake, provider, route, until};

struct World {
    rig: Rig,
    file: TempFile,
    text: String,
    _keys: [TempFile; 2],
    _a: Fake,
}

impl World {
    /// A gateway with a token, a client key and two routes.
    async fn new() -> Self {
        let a = fake(Mood::Well).await;
        let keys = [tempfile("the-operators"), tempfile("a-clients")];
        let text = format!(
            "[server]\nadmin_token = {{ file = {:?} }}\nclient_keys = [{{ file = {:?} }}]\n",
            keys[0].path(),
            keys[1].path()
        ) + &provider("a", &a.url(), "")
            + &route("m", &["a"], "")
            + &route("n", &["a"], "");
        let file = tempfile(&text);
        let rig = Rig::start_file(file.path()).await;
        Self {
            rig,
            file,
            text,
            _keys: keys,
            _a: a,
        }
    }

    /// Whether a text in the file's place is put in force.
    fn takes(&self, text: &str) -> bool {
        let before = self.rig.gateway.fleet.load().version;
        std::fs::write(self.file.path(), text).unwrap();
        self.rig.gateway.reload(false);
        let is_taken = self.rig.gateway.fleet.load().version != before;
        assert_eq!(self.rig.gateway.problem().is_none(), is_taken);
        is_taken
    }

    fn problem(&self) -> String {
        self.rig.gateway.problem().expect("a problem").to_string()
    }

    async fn status(&self, method: Method, path: &str, key: &'static str) -> StatusCode {
        let body = if method == Method::POST {
            chat("m", false)
        } else {
            String::new()
        };
        let mut request = self.rig.request(method, path, body);
        let value = HeaderValue::try_from(format!("Bearer {key}")).unwrap();
        request.headers_mut().insert("authorization", value);
        self.rig.send(request).await.status
    }

    async fn is_as_it_was(&self) {
        let admin = self.status(Method::GET, "/admin/state", "wrong").await;
        let client = self
            .status(Method::POST, "/v1/chat/completions", "wrong")
            .await;
        assert_eq!((admin.as_u16(), client.as_u16()), (401, 401));
        let admin = self
            .status(Method::GET, "/admin/state", "the-operators")
            .await;
        let client = self
            .status(Method::POST, "/v1/chat/completions", "a-clients")
            .await;
        assert_eq!((admin.as_u16(), client.as_u16()), (200, 200));
    }
}

#[tokio::test]
async fn a_file_that_is_cut_anywhere_changes_nothing() {
    let world = World::new().await;
    let version = world.rig.gateway.fleet.load().version;
    for end in 0..world.text.trim_end().len() {
        std::fs::write(world.file.path(), &world.text[..end]).unwrap();
        world.rig.gateway.reload(end % 2 == 0);
        assert_eq!(
            world.rig.gateway.fleet.load().version,
            version,
            "{:?}",
            &world.text[..end]
        );
    }
    world.is_as_it_was().await;
    // The last route can be taken out all the same.
    let end = world.text.rfind("[[route]]").unwrap();
    assert!(!world.takes(&world.text[..end]));
    assert!(
        world.problem().contains("add a comment at its end"),
        "{}",
        world.problem()
    );
    assert!(world.takes(&format!("{}# one route less\n", &world.text[..end])));
}

#[tokio::test]
async fn a_file_that_is_emptied_while_it_is_watched_changes_nothing() {
    let world = World::new().await;
    std::fs::write(world.file.path(), "").unwrap();
    until("it is refused", || world.rig.gateway.problem().is_some()).await;
    world.is_as_it_was().await;
    std::fs::write(world.file.path(), &world.text).unwrap();
    until("it is as it was", || world.rig.gateway.problem().is_none()).await;
}

#[tokio::test]
async fn a_reload_asks_for_all_that_was_asked_for_unless_the_file_says_outright() {
    let world = World::new().await;
    let lines = |without: &str| {
        let lines = world.text.lines().filter(|line| !line.starts_with(without));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    assert!(!world.takes(&lines("admin_token")));
    assert!(
        world.problem().contains("server.admin_token: "),
        "{}",
        world.problem()
    );
    assert!(!world.takes(&lines("client_keys")));
    assert!(
        world.problem().contains("server.client_keys: "),
        "{}",
        world.problem()
    );
    assert!(!world.takes(&lines("client_keys").replace("[server]", "[server]\nclient_keys = []")));
    world.is_as_it_was().await;
    let outright = lines("client_keys").replace("[server]", "[server]\nallow_without_key = true");
    assert!(world.takes(&outright));
    let open = world
        .status(Method::POST, "/v1/chat/completions", "wrong")
        .await;
    assert_eq!(open, StatusCode::OK);
}

#[tokio::test]
async fn what_only_a_restart_puts_in_force_is_said() {
    let world = World::new().await;
    let state = async || {
        let mut request = world.rig.request(Method::GET, "/admin/state", "");
        let token = HeaderValue::from_static("Bearer the-operators");
        request.headers_mut().insert("authorization", token);
        world.rig.send(request).await.json()
    };
    assert_eq!(state().await["needs_restart"], serde_json::json!([]));
    let changed = world.text.replace(
        "[server]",
        "[server]\nlisten = \"0.0.0.0:9999\"\nmax_streams = 7\nmax_body_bytes = 20000",
    ) + "[store]\npath = \"other.sqlite\"\n";
    assert!(world.takes(&changed));
    let now = state().await;
    assert_eq!(
        now["needs_restart"],
        serde_json::json!(["server.listen", "server.max_streams", "store"])
    );
    assert_eq!(now["warnings"], serde_json::json!([]));
    assert!(world.takes(&world.text));
    assert_eq!(state().await["needs_restart"], serde_json::json!([]));
}

#[cfg(unix)]
#[tokio::test]
async fn a_pipe_in_the_place_of_the_file_changes_nothing_and_holds_nobody() {
    let world = World::new().await;
    std::fs::remove_file(world.file.path()).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(world.file.path())
        .status();
    assert!(made.unwrap().success());
    // Nobody writes to it: to read it would never end.
    world.rig.gateway.reload(true);
    assert!(
        world.problem().contains("is no file any more"),
        "{}",
        world.problem()
    );
    world.is_as_it_was().await;
}
