//! One field changed at a time, the rest of the text left as it is.
