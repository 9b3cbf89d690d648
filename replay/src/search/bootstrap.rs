//! How often a config opens for nothing: blocks of the log's own quiet times, drawn again and again.

use rayon::prelude::*;
use serde::Serialize;

use super::subject::Search;
use crate::call::Call;
use crate::configs::Guards;
use crate::replay::{Order, Replay};

/// How often a config opens for nothing, by a block bootstrap.
///
/// Failures come in bursts also in quiet times. Blocks keep the bursts whole, where single calls drawn at
/// random would scatter them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FalseTrips {
    /// How many days of quiet the log has.
    pub quiet_days: f64,
    /// How many draws of as much were replayed.
    pub draws: usize,
    /// Trips in a quiet day, on average over the draws.
    pub a_day: f64,
    /// What 5 % of the draws stay below.
    pub low: f64,
    /// What 95 % of them stay below; where no draw trips, what so much quiet without a trip leaves possible:
    /// three in as long as it is.
    pub high: f64,
}

const BLOCK: i64 = 600_000_000_000;
const DRAWS: usize = 40;
/// How many calls are replayed in all.
const WORK: usize = 20_000_000;

pub(super) fn false_trips(search: &Search<'_>, guards: &Guards) -> FalseTrips {
    let blocks = blocks(search);
    let calls: usize = blocks.iter().map(|block| block.len()).sum();
    let quiet = blocks.len() as u64 * BLOCK.unsigned_abs();
    let quiet_days = (quiet as f64 / 86_400e9).max(1e-9);
    let draws = if blocks.is_empty() {
        0
    } else {
        (WORK / calls.max(1)).clamp(4, DRAWS)
    };
    let mut trips: Vec<f64> = (0..draws)
        .into_par_iter()
        .map(|draw| trips(&blocks, guards, draw as u64) as f64 / quiet_days)
        .collect();
    trips.sort_by(f64::total_cmp);
    let at = |share: f64| {
        trips
            .get(((trips.len() as f64 - 1.0) * share).round() as usize)
            .copied()
    };
    let none = trips.last().is_none_or(|most| *most == 0.0);
    FalseTrips {
        quiet_days,
        draws,
        a_day: trips.iter().sum::<f64>() / draws.max(1) as f64,
        low: at(0.05).unwrap_or(0.0),
        high: if none {
            3.0 / quiet_days
        } else {
            at(0.95).unwrap_or(0.0)
        },
    }
}

/// The calls of each stretch of ten minutes in which there was quiet all the time.
fn blocks<'a>(search: &Search<'a>) -> Vec<&'a [Call]> {
    let Some(first) = search.calls.first() else {
        return Vec::new();
    };
    let blocks = search
        .calls
        .chunk_by(|a, b| (a.start - first.start) / BLOCK == (b.start - first.start) / BLOCK);
    blocks
        .filter(|block| {
            let begin = first.start + (block[0].start - first.start) / BLOCK * BLOCK;
            !search.troubles.iter().any(|trouble| {
                trouble.start < begin + BLOCK
                    && trouble.end.saturating_add_unsigned(search.slack) >= begin
            })
        })
        .collect()
}

/// The trips in as many blocks, drawn with replacement and put one behind the other.
fn trips(blocks: &[&[Call]], guards: &Guards, seed: u64) -> usize {
    let mut random = fastrand::Rng::with_seed(seed);
    let Ok(mut replay) = Replay::new(*guards, Order::as_written()) else {
        return 0;
    };
    let origin = blocks[0][0].start;
    for place in 0..blocks.len() as i64 {
        let block = blocks[random.usize(..blocks.len())];
        let begin = block[0].start;
        let moved = block.iter().map(|call| Call {
            start: origin + place * BLOCK + (call.start - begin).min(BLOCK - 1),
            ..*call
        });
        replay.feed(&moved.collect::<Vec<_>>());
    }
    replay
        .finish()
        .transitions
        .iter()
        .filter(|transition| transition.is_trip())
        .count()
}
