//! Tweets with part-of-speech tags, and the word vectors for them.
//!
//! ```text
//! tweets-{train,dev,devtest}.txt   word<TAB>tag      one line per word, a blank line after each tweet
//! embeddings*.txt                  word<TAB>v1 v2 … vn          the same n on every line
//! ```
//!
//! Both are UTF-8, plain or gzipped. Among the vectors, `</s>` is that of the positions before and after a tweet, and
//! `UUUNKKK` that of words without a vector. The reader looks a word up as it is written, then in lower case;
//! otherwise the word is unknown. (The paper's code has no lower-case step. With its tweets and a lower-case
//! vocabulary this makes no difference, because the tweets are in lower case already.)
//!
//! An example is a word with its neighbours: the vectors of the left, the centre and the right word, one after the
//! other, and the tag of the centre word.
//!
//! The tweets: Gimpel et al., Part-of-Speech Tagging for Twitter: Annotation, Features, and
//! Experiments, 2011. The split and the format: the GELU paper, section 3.3, and its code.

mod folder;
mod tagged;
mod vectors;

pub use folder::{FILES, is_present, read, write_synthetic};
pub use tagged::{TAGS, Tweet, parse_tweets};
pub use vectors::{TWEET_END, UNKNOWN, VectorsFile, WordVectors};
