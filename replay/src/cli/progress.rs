//! How far the reading is, on a terminal.

use std::thread;
use std::time::Duration;

use cutout_replay::input::Progress;
use indicatif::{ProgressBar, ProgressStyle};

/// Shows bytes read, of how many, and the time left, until it is finished.
pub(super) fn show(progress: Progress) -> ProgressBar {
    let bar = ProgressBar::new(progress.total());
    let style = "{bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    let shown = bar.clone();
    thread::spawn(move || {
        while !shown.is_finished() {
            shown.set_length(progress.total());
            shown.set_position(progress.read());
            thread::sleep(Duration::from_millis(200));
        }
    });
    bar
}
