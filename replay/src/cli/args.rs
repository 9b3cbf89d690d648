//! What can be asked for.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Parser;
use cutout_replay::configs::{self, Named, presets};
use cutout_replay::input::{By, FormatName, Map, Options};
use cutout_replay::{Error, Slow, Trouble, Verdicts};
use jiff::tz::TimeZone;

/// What a circuit breaker would have done with the calls of a log.
///
/// Reads access logs, traces and load tests; replays their calls before the breaker on a clock that follows
/// the log; and says what each config would have spared and what it would have cost.
#[derive(Debug, Parser)]
#[command(name = "cutout-replay", version)]
pub(crate) struct Args {
    /// Logs, plain or compressed with gzip or zstd; `-` is the standard input
    pub(crate) files: Vec<String>,

    /// Replay a made day with four kinds of trouble; needs no log
    #[arg(long, conflicts_with = "files")]
    pub(crate) demo: bool,

    /// Write the demo's day as a request log of the gateway, and stop
    #[arg(long, value_name = "FILE")]
    pub(crate) demo_log: Option<PathBuf>,

    /// A config in TOML, or a gateway's file; NAME=FILE names it. May be given several times; the presets are replayed when none is
    #[arg(long = "config", value_name = "FILE")]
    configs: Vec<String>,

    /// Try a few hundred configs and advise one
    #[arg(long)]
    pub(crate) search: bool,

    /// The format of the logs, when it should not be found by itself
    #[arg(long, value_name = "NAME", value_parser = format)]
    format: Option<FormatName>,

    /// Columns of CSV or fields of JSON lines: time=ts,status=code,duration=latency_ms,key=host
    #[arg(long, value_name = "WHAT=COLUMN,...", value_parser = map)]
    map: Option<Map>,

    /// One breaker per upstream, host or path; one for all when it is not given
    #[arg(long, value_name = "WHAT", value_parser = ["upstream", "host", "path"])]
    by: Option<String>,

    /// Where a log lists the attempts of a request, take each for a call
    #[arg(long)]
    attempts: bool,

    /// The time zone of stamps that have none, such as Europe/Berlin
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    tz: String,

    /// What a status means: 404=failure, 4xx=ignored, abort=timeout
    #[arg(long = "verdict", value_name = "STATUS=OUTCOME")]
    verdicts: Vec<String>,

    /// From how long on a call is bad although it came to something; KEY=TIME for one key
    #[arg(long = "slow", value_name = "TIME")]
    slow: Vec<String>,

    /// Tell the breakers that such a call timed out, as if its caller had given up
    #[arg(long, requires = "slow")]
    slow_is_timeout: bool,

    /// Known troubles, `key,start,end[,name]` a line; found in hindsight when it is not given
    #[arg(long, value_name = "FILE")]
    troubles: Option<PathBuf>,

    /// How long after a trouble's end a trip still belongs to it
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = span)]
    pub(crate) slack: Duration,

    /// By how much the lines may be out of order
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = span)]
    sort_within: Duration,

    /// How many orders of calls to replay; 5 where stamps are of whole seconds, else 1
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=100))]
    orders: Option<u16>,

    /// The most breakers of one config; 10000, or fewer where many configs and orders are replayed
    #[arg(long, value_name = "COUNT")]
    pub(crate) max_keys: Option<usize>,

    /// The report
    #[arg(long, value_name = "FILE", default_value = "replay.html")]
    pub(crate) html: PathBuf,

    /// Print the result as JSON in place of tables and report
    #[arg(long)]
    pub(crate) json: bool,
}

impl Args {
    pub(crate) fn orders(&self) -> Option<usize> {
        self.orders.map(usize::from)
    }

    pub(crate) fn options(&self) -> Result<Options, Error> {
        let mut verdicts = Verdicts::default();
        for rule in &self.verdicts {
            verdicts.set(rule)?;
        }
        let zone =
            TimeZone::get(&self.tz).map_err(|error| Error::Usage(format!("--tz: {error}")))?;
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Ok(Options {
            format: self.format,
            map: self.map.clone(),
            by: match self.by.as_deref() {
                Some("upstream") => By::Upstream,
                Some("host") => By::Host,
                Some("path") => By::Path,
                _ => By::Nothing,
            },
            zone,
            attempts: self.attempts,
            verdicts,
            slow: self.slow()?,
            slow_is_timeout: self.slow_is_timeout,
            within: self.sort_within,
            max_keys: self.max_keys.unwrap_or(usize::MAX),
            now: i64::try_from(now.as_nanos()).unwrap_or(i64::MAX),
        })
    }

    fn slow(&self) -> Result<Slow, Error> {
        let mut slow = Slow::default();
        for text in self.slow.iter().flat_map(|text| text.split(',')) {
            let wrong = |error: String| Error::Usage(format!("--slow: {error}"));
            match text.rsplit_once('=') {
                Some((key, limit)) => slow.key(key, span(limit).map_err(wrong)?),
                None => slow.all(span(text).map_err(wrong)?),
            }
        }
        Ok(slow)
    }

    pub(crate) fn configs(&self) -> Result<Vec<Named>, Error> {
        let mut all = Vec::new();
        for argument in &self.configs {
            all.extend(configs::read(argument)?);
        }
        Ok(all)
    }

    pub(crate) fn configs_or_presets(&self) -> Result<Vec<Named>, Error> {
        Ok(if self.configs.is_empty() {
            presets()
        } else {
            self.configs()?
        })
    }

    pub(crate) fn troubles(&self) -> Result<Option<Vec<Trouble>>, Error> {
        let Some(path) = &self.troubles else {
            return Ok(None);
        };
        let text = std::fs::read_to_string(path).map_err(|error| Error::File {
            path: path.clone(),
            error,
        })?;
        Trouble::read(&path.display().to_string(), &text).map(Some)
    }
}

fn format(name: &str) -> Result<FormatName, String> {
    FormatName::named(name).ok_or_else(|| {
        let known: Vec<_> = FormatName::ALL
            .iter()
            .map(|format| format.label())
            .collect();
        format!("it is none of {}", known.join(", "))
    })
}

fn map(text: &str) -> Result<Map, String> {
    text.parse().map_err(|error: Error| error.to_string())
}

/// A length of time: `250ms`, `1m 30s`.
fn span(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text)
        .map_err(|error| format!("`{text}` is no length of time such as 250ms or 1m 30s: {error}"))
}
