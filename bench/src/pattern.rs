//! Which calls fail: fixed before measuring, the same for every subject.

/// The number of outcomes before a pattern repeats.
pub const LENGTH: usize = 4096;

/// A fixed sequence of outcomes.
///
/// The failures are spread evenly: so many at random places in each stretch of
/// outcomes. No window comes near the limit then. A branch predictor may learn the whole: what is
/// left then is what breakers do, without what any caller pays for an outcome that surprises it.
#[derive(Clone, Debug)]
pub struct Pattern {
    fails: Box<[bool; LENGTH]>,
}

impl Pattern {
    /// So many percent failures: 0, 1, 20 or 50.
    pub fn new(percent: u8) -> Self {
        let (stretch, failures) = match percent {
            0 => (LENGTH, 0),
            50 => (4, 2),
            percent => (100 / usize::from(percent), 1),
        };
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let mut fails = Box::new([false; LENGTH]);
        for start in (0..LENGTH).step_by(stretch) {
            let mut left = failures;
            while left > 0 {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let place = start + (random >> 33) as usize % stretch;
                if place >= LENGTH {
                    break;
                }
                if !fails[place] {
                    fails[place] = true;
                    left -= 1;
                }
            }
        }
        Self { fails }
    }

    /// Whether the call at this place fails; places wrap.
    #[inline]
    pub fn fails(&self, place: usize) -> bool {
        self.fails[place % LENGTH]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_as_asked_and_no_window_of_20_comes_near_nine_tenths() {
        for percent in [0, 1, 20, 50] {
            let pattern = Pattern::new(percent);
            let failures = pattern.fails.iter().filter(|fails| **fails).count();
            let share = failures as f64 / LENGTH as f64;
            assert!(
                (share - f64::from(percent) / 100.0).abs() < 0.002,
                "{share}"
            );
            for start in 0..LENGTH {
                let run = (start..start + 20).filter(|at| pattern.fails(*at)).count();
                assert!(run <= 12, "{run} of 20 at {start}");
            }
        }
    }
}
