//! One of the demo's fake providers as a program, for tests in other languages.
//!
//! It prints its address, and then does what each line of its input says: `seen` prints the last request as JSON; all
//! else is a mood, such as `well`, `hanging`, or `refusing 429 1`. Each is answered with a line. It ends with its input.

use std::time::Duration;

use cutout_gateway::demo::fake::{Fake, Mood};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

fn main() -> std::io::Result<()> {
    let runtime = Runtime::new()?;
    let fake = runtime.block_on(Fake::start(Mood::Well))?;
    println!("http://{}", fake.address());
    for line in std::io::stdin().lines() {
        let line = line?;
        if line == "seen" {
            println!("{}", seen(&fake));
            continue;
        }
        match mood(&line) {
            Some(mood) => {
                fake.set(mood);
                println!("ok");
            }
            None => println!("there is no such mood"),
        }
    }
    Ok(())
}

fn seen(fake: &Fake) -> Value {
    let Some((headers, body)) = fake.last() else {
        return json!({ "calls": 0 });
    };
    let shown = headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), Value::from(value))
    });
    json!({
        "calls": fake.calls(),
        "path": fake.last_path(),
        "headers": shown.collect::<serde_json::Map<_, _>>(),
        "body": serde_json::from_slice(&body).unwrap_or(Value::Null),
    })
}

fn mood(line: &str) -> Option<Mood> {
    let mut words = line.split_whitespace();
    let name = words.next()?;
    let numbers: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
    Some(match (name, numbers.as_slice()) {
        ("well", []) => Mood::Well,
        ("refusing", [status]) => Mood::Refusing(u16::try_from(*status).ok()?, None),
        ("refusing", [status, wait]) => Mood::Refusing(u16::try_from(*status).ok()?, Some(*wait)),
        ("slow", [millis]) => Mood::Slow(Duration::from_millis(*millis)),
        ("hanging", []) => Mood::Hanging,
        ("stalling", []) => Mood::Stalling,
        ("cutting", []) => Mood::Cutting,
        ("unfinished", []) => Mood::Unfinished,
        ("error-first", []) => Mood::ErrorFirst,
        ("error-last", []) => Mood::ErrorLast,
        ("empty", []) => Mood::Empty,
        ("html", []) => Mood::Html,
        _ => return None,
    })
}
