//! Notices that the file has changed.
