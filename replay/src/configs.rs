//! The configs that are replayed: presets, and files.

use std::path::Path;

use cutout::{Config, ConfigError, ThrottleConfig};

use crate::Error;

/// A config with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// What the report calls it.
    pub name: String,
    /// What stands before the upstream.
    pub guards: Guards,
}

/// What stands before an upstream: a breaker, a throttle, or the one behind the other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Guards {
    /// What the breakers are told; `None` for a throttle alone.
    pub breaker: Option<Config>,
    /// What the throttles are told, if there are any.
    pub throttle: Option<ThrottleConfig>,
}

impl From<Config> for Guards {
    fn from(config: Config) -> Self {
        Self {
            breaker: Some(config),
            throttle: None,
        }
    }
}

impl Guards {
    /// Checks every field.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] that names the first illegal field.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if let Some(breaker) = &self.breaker {
            breaker.validate()?;
        }
        self.throttle
            .as_ref()
            .map_or(Ok(()), ThrottleConfig::validate)
    }
}

/// The core's presets.
pub fn presets() -> Vec<Named> {
    let named = |name: &str, config| Named {
        name: name.to_owned(),
        guards: Guards::from(config),
    };
    vec![
        named("default", Config::default()),
        named("high-traffic", Config::high_traffic()),
        named("low-traffic", Config::low_traffic()),
    ]
}

/// Reads a config from TOML: the fields of [`Config`], with those of [`ThrottleConfig`] in a table `throttle` if there is to be one, and
/// `breaker = "none"` where it stands alone; or the `breaker` and `throttle` tables of each provider of a gateway's file.
///
/// # Errors
///
/// [`Error::Config`] with the line and the column of what is wrong.
pub fn parse(name: &str, text: &str) -> Result<Vec<Named>, Error> {
    let wrong = |message: String| Error::Config {
        name: name.to_owned(),
        message,
    };
    let table: toml::Table = text
        .parse()
        .map_err(|error: toml::de::Error| wrong(error.to_string()))?;
    let configs = match table.get("provider") {
        Some(toml::Value::Array(providers)) => {
            let mut configs = Vec::new();
            for (index, provider) in providers.iter().enumerate() {
                let own = provider.get("name").and_then(toml::Value::as_str);
                let own = own.map_or_else(|| format!("{name} {}", index + 1), str::to_owned);
                let breaker = provider.get("breaker").cloned();
                let breaker = breaker.unwrap_or_else(|| toml::Table::new().into());
                let told = |field: &str, error: toml::de::Error| {
                    wrong(format!("provider {own}: {field}: {error}"))
                };
                let guards = Guards {
                    breaker: Some(breaker.try_into().map_err(|error| told("breaker", error))?),
                    throttle: (provider.get("throttle").cloned())
                        .map(toml::Value::try_into)
                        .transpose()
                        .map_err(|error| told("throttle", error))?,
                };
                configs.push(Named { name: own, guards });
            }
            configs
        }
        _ => {
            vec![Named {
                name: name.to_owned(),
                guards: guards(text, table).map_err(wrong)?,
            }]
        }
    };
    for Named { name: own, guards } in &configs {
        guards.validate().map_err(|error| {
            let field = error.field().split('.').next().unwrap_or("");
            wrong(format!("{}{error} ({own})", place(text, field)))
        })?;
    }
    Ok(configs)
}

/// What a text of one config says; what is wrong with it and where.
fn guards(text: &str, mut table: toml::Table) -> Result<Guards, String> {
    let alone = table.remove("breaker");
    let throttle = table.remove("throttle");
    if let Some(other) = alone
        .as_ref()
        .filter(|breaker| breaker.as_str() != Some("none"))
    {
        let place = place(text, "breaker");
        return Err(format!(
            "{place}breaker = {other} is not legal: it must be \"none\", for a throttle alone; a breaker's fields stand by themselves"
        ));
    }
    let throttle = throttle
        .map(toml::Value::try_into)
        .transpose()
        .map_err(|error| placed(text, &error))?;
    if alone.is_none() {
        // Read from the text, where there is one that says no more, errors have their place.
        let breaker = match throttle {
            None => toml::from_str(text),
            Some(_) => table.try_into(),
        };
        let breaker = Some(breaker.map_err(|error| placed(text, &error))?);
        return Ok(Guards { breaker, throttle });
    }
    if let Some(field) = table.keys().next() {
        let place = place(text, field);
        return Err(format!(
            "{place}{field} is a breaker's, and breaker = \"none\" says that there is none"
        ));
    }
    if throttle.is_none() {
        return Err(
            "breaker = \"none\" and no throttle: nothing would ever be refused; add [throttle]"
                .to_owned(),
        );
    }
    let breaker = None;
    Ok(Guards { breaker, throttle })
}

/// What is wrong with a text and where. An error in a field begins with its name or quotes it, but has no place of its own.
fn placed(text: &str, error: &toml::de::Error) -> String {
    let message = error.message();
    let field = match message.split_once("field `") {
        Some((_, rest)) => rest.split('`').next(),
        None => message.split(':').next(),
    };
    let place = place(text, field.unwrap_or(""));
    if place.is_empty() {
        return error.to_string();
    }
    format!("{place}{message}")
}

/// The line and the column of a field that a text sets; empty if it does not.
fn place(text: &str, field: &str) -> String {
    let sets = |line: &str| {
        let rest = line
            .trim_start()
            .trim_start_matches('[')
            .strip_prefix(field);
        rest.is_some_and(|rest| rest.trim_start().starts_with(['=', '.', ']']))
    };
    let found = text
        .lines()
        .enumerate()
        .find(|(_, line)| sets(line))
        .filter(|_| !field.is_empty());
    found.map_or(String::new(), |(index, line)| {
        let column = line.find(field).unwrap_or(0) + 1;
        format!("line {}, column {column}: ", index + 1)
    })
}

/// Reads a config from a file, as [`parse`] does. `NAME=FILE` names it; else it has the file's name.
///
/// # Errors
///
/// [`Error::File`] or [`Error::Config`].
pub fn read(argument: &str) -> Result<Vec<Named>, Error> {
    let (name, path) = match argument.split_once('=') {
        Some((name, path)) => (name.to_owned(), Path::new(path)),
        None => {
            let path = Path::new(argument);
            let stem = path
                .file_stem()
                .map(|stem| stem.to_string_lossy().into_owned());
            (stem.unwrap_or_default(), path)
        }
    };
    let text = std::fs::read_to_string(path).map_err(|error| Error::File {
        path: path.to_owned(),
        error,
    })?;
    parse(&name, &text)
}

/// What of it is not as in [`Config::default`] and [`ThrottleConfig::default`].
pub fn differing(guards: &Guards) -> toml::Table {
    let mut table = match &guards.breaker {
        Some(breaker) => apart(breaker, &Config::default()),
        None => toml::Table::from_iter([("breaker".to_owned(), "none".into())]),
    };
    if let Some(throttle) = &guards.throttle {
        let throttle = apart(throttle, &ThrottleConfig::default());
        table.insert("throttle".to_owned(), throttle.into());
    }
    table
}

/// The fields in which two values of a type differ, as the first has them.
fn apart<T: serde::Serialize>(one: &T, other: &T) -> toml::Table {
    let table = |of: &T| toml::Table::try_from(of).unwrap_or_default();
    let (own, other) = (table(one), table(other));
    own.into_iter()
        .filter(|(field, value)| other.get(field) != Some(value))
        .collect()
}

/// Its TOML, to paste into a file: what is not as in [`Config::default`] and [`ThrottleConfig::default`].
pub fn toml(guards: &Guards) -> String {
    let differing = differing(guards);
    if differing.is_empty() {
        return "# the default\n".to_owned();
    }
    differing
        .iter()
        .map(|(field, value)| format!("{field} = {value}\n"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_is_told_with_its_line_and_column_and_an_illegal_value_with_its_line() {
        let error = parse("mine", "min_calls = 5\nfailur_ratio = 0.5\n")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("line 2, column 1") && error.contains("failur_ratio"),
            "{error}"
        );
        let error = parse("mine", "min_calls = 5\nfailure_ratio = 1.5\n")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("line 2") && error.contains("at most 1"),
            "{error}"
        );
        let error = parse("mine", "min_calls = = 5").unwrap_err().to_string();
        assert!(error.contains("line 1, column"), "{error}");
    }

    #[test]
    fn what_is_printed_is_read_back_as_it_was() {
        for preset in presets() {
            let both = Guards {
                throttle: Some(ThrottleConfig::default()),
                ..preset.guards
            };
            let alone = Guards {
                breaker: None,
                throttle: Some(ThrottleConfig {
                    k: 1.5,
                    ..ThrottleConfig::default()
                }),
            };
            for guards in [preset.guards, both, alone] {
                let text = toml(&guards);
                assert_eq!(parse("x", &text).unwrap()[0].guards, guards, "{text}");
            }
        }
    }

    #[test]
    fn a_throttle_stands_beside_a_breaker_or_alone() {
        let read = |text: &str| parse("mine", text).map(|configs| configs[0].guards);
        let both = read("min_calls = 7\n[throttle]\nk = 3.0\n").unwrap();
        assert_eq!(both.breaker.unwrap().min_calls(), 7);
        assert_eq!(both.throttle.unwrap().k, 3.0);
        let alone = read("breaker = 'none'\nthrottle = {}\n").unwrap();
        assert_eq!((alone.breaker, alone.throttle.unwrap().k), (None, 2.0));
        for (text, told) in [
            (
                "min_calls = 7\n[throttle]\nk = 0.5\n",
                "line 3, column 1: k = 0.5 is not legal",
            ),
            (
                "[throttle]\nfloor = 1\n",
                "line 2, column 1: unknown field `floor`",
            ),
            (
                "min_cals = 7\n[throttle]\n",
                "line 1, column 1: unknown field `min_cals`",
            ),
            (
                "breaker = 7\n[throttle]\n",
                "line 1, column 1: breaker = 7 is not legal",
            ),
            (
                "breaker = 'none'\nmin_calls = 7\n[throttle]\n",
                "line 2, column 1: min_calls is a breaker's",
            ),
            ("breaker = 'none'\n", "nothing would ever be refused"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    #[test]
    fn the_breakers_of_a_gateways_file_are_configs_by_their_providers() {
        let text = "[[provider]]\nname = 'a'\nbase_url = 'http://h'\n[provider.breaker]\nmin_calls = 7\n[provider.throttle]\nk = 3.0\n[[provider]]\nname = 'b'\n";
        let configs = parse("gateway", text).unwrap();
        let first = configs[0].guards;
        assert_eq!(first.breaker.unwrap().min_calls(), 7);
        assert_eq!(first.throttle.unwrap().k, 3.0);
        assert_eq!(
            (configs[1].name.as_str(), configs[1].guards),
            ("b", Config::default().into())
        );
    }
}
