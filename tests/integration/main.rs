//! One integration binary: the whole program from outside.

mod run;
mod support;
