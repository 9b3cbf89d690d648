//! The configs that are replayed: presets, and files.

use std::path::Path;

use cutout::Config;

use crate::Error;

/// A config with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// What the report calls it.
    pub name: String,
    /// What its breakers are told.
    pub config: Config,
}

/// The core's presets.
pub fn presets() -> Vec<Named> {
    let named = |name: &str, config| Named {
        name: name.to_owned(),
        config,
    };
    vec![
        named("default", Config::default()),
        named("high-traffic", Config::high_traffic()),
        named("low-traffic", Config::low_traffic()),
    ]
}

/// Reads a config from TOML: the fields of [`Config`], or those of each `breaker` table of a gateway's file.
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
                let config = breaker.try_into().map_err(|error: toml::de::Error| {
                    wrong(format!("provider {own}: breaker: {error}"))
                })?;
                configs.push(Named { name: own, config });
            }
            configs
        }
        _ => {
            let config = toml::from_str(text).map_err(|error| wrong(placed(text, &error)))?;
            vec![Named {
                name: name.to_owned(),
                config,
            }]
        }
    };
    for Named { name: own, config } in &configs {
        config.validate().map_err(|error| {
            let field = error.field().split('.').next().unwrap_or("");
            wrong(format!("{}{error} ({own})", place(text, field)))
        })?;
    }
    Ok(configs)
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

/// What of a config is not as in [`Config::default`].
pub fn differing(config: &Config) -> toml::Table {
    let table = |config: &Config| toml::Table::try_from(config).unwrap_or_default();
    let (own, default) = (table(config), table(&Config::default()));
    own.into_iter()
        .filter(|(field, value)| default.get(field) != Some(value))
        .collect()
}

/// The TOML of a config, to paste into a file: what is not as in [`Config::default`].
pub fn toml(config: &Config) -> String {
    let differing = differing(config);
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
            let text = toml(&preset.config);
            assert_eq!(
                parse("x", &text).unwrap()[0].config,
                preset.config,
                "{text}"
            );
        }
    }

    #[test]
    fn the_breakers_of_a_gateways_file_are_configs_by_their_providers() {
        let text = "[[provider]]\nname = 'a'\nbase_url = 'http://h'\n[provider.breaker]\nmin_calls = 7\n[[provider]]\nname = 'b'\n";
        let configs = parse("gateway", text).unwrap();
        assert_eq!(configs[0].config.min_calls(), 7);
        assert_eq!(
            (configs[1].name.as_str(), configs[1].config),
            ("b", Config::default())
        );
    }
}
