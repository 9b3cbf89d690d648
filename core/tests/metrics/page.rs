//! A page as Prometheus scrapes it.

use std::collections::{BTreeMap, BTreeSet};

use cutout::adapters::metrics::Observer;
use cutout::{Breaker, Clock, Throttle};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};

/// A recorder of this test alone.
pub(crate) struct Scraper {
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
    observer: Observer,
}

impl Scraper {
    pub(crate) fn new() -> Self {
        Self::with_max_names(10)
    }

    pub(crate) fn with_max_names(max_names: usize) -> Self {
        let recorder = PrometheusBuilder::new().build_recorder();
        let handle = recorder.handle();
        let observer = Observer::with_max_names(max_names);
        Self {
            recorder,
            handle,
            observer,
        }
    }

    /// A round that shows these breakers.
    pub(crate) fn round<'a, C: Clock + 'a>(
        &self,
        breakers: impl IntoIterator<Item = &'a Breaker<C>>,
    ) -> &Self {
        metrics::with_local_recorder(&self.recorder, || {
            self.observer.round(|round| {
                for breaker in breakers {
                    round.show(breaker);
                }
            });
        });
        self
    }

    /// A round that shows this breaker alone.
    pub(crate) fn observe<C: Clock>(&self, breaker: &Breaker<C>) -> &Self {
        self.round([breaker])
    }

    /// A round that shows these throttles.
    pub(crate) fn throttles<'a, C: Clock + 'a>(
        &self,
        throttles: impl IntoIterator<Item = &'a Throttle<C>>,
    ) -> &Self {
        metrics::with_local_recorder(&self.recorder, || {
            self.observer.round(|round| {
                for throttle in throttles {
                    round.show_throttle(throttle);
                }
            });
        });
        self
    }

    pub(crate) fn describe(&self) -> &Self {
        metrics::with_local_recorder(&self.recorder, cutout::adapters::metrics::describe);
        self
    }

    pub(crate) fn text(&self) -> String {
        self.handle.render()
    }

    pub(crate) fn page(&self) -> Page {
        let text = self.text();
        let lines = text
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty());
        Page(
            lines
                .map(|line| {
                    let (series, value) = line.rsplit_once(' ').unwrap();
                    (series.to_owned(), value.parse().unwrap())
                })
                .collect(),
        )
    }
}

/// What the series are.
pub(crate) struct Page(BTreeMap<String, f64>);

impl Page {
    /// The value of the series `cutout_breaker_{name}` of the breaker `search`; `labels`
    /// are the further ones, as they are written.
    pub(crate) fn value(&self, name: &str, labels: &str) -> f64 {
        self.of("search", name, labels)
    }

    pub(crate) fn of(&self, breaker: &str, name: &str, labels: &str) -> f64 {
        let comma = if labels.is_empty() { "" } else { "," };
        let series = format!("cutout_breaker_{name}{{breaker=\"{breaker}\"{comma}{labels}}}");
        let value = self.0.get(&series);
        *value.unwrap_or_else(|| panic!("no {series} among {:#?}", self.0))
    }

    /// The sum over all series of this name.
    pub(crate) fn sum(&self, name: &str) -> f64 {
        let prefix = format!("cutout_breaker_{name}{{");
        let series = self
            .0
            .iter()
            .filter(|(series, _)| series.starts_with(&prefix));
        series.map(|(_, value)| value).sum()
    }

    /// The value of a series by all of its name.
    pub(crate) fn all(&self, series: &str) -> f64 {
        let value = self.0.get(series);
        *value.unwrap_or_else(|| panic!("no {series} among {:#?}", self.0))
    }

    /// How many series there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn names(&self) -> BTreeSet<&str> {
        self.0
            .keys()
            .map(|series| series.split('{').next().unwrap())
            .collect()
    }
}
