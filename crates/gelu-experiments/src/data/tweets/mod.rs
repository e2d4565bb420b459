//! Part-of-speech-tagged tweets and the word vectors they are read with.
//!
//! ```text
//! tweets-{train,dev,devtest}.txt   word<TAB>tag      a line a word, a blank line after each tweet
//! embeddings*.txt                  word<TAB>v1 v2 … vn          the same n on every line
//! ```
//!
//! Both are UTF-8, plain or gzipped. Among the vectors, `</s>` stands for what is before and after
//! a tweet and `UUUNKKK` for a word that has none: a word is looked up as it is written, then in
//! lower case, then it is unknown. (The paper's code has no lower-case step. With its tweets and a
//! lower-case vocabulary that changes nothing, the tweets being in lower case already.)
//!
//! An example is a word with its neighbours: the vectors of the left, the centre and the right
//! word, one behind the other, and the tag of the centre word.
//!
//! The tweets: Gimpel et al., Part-of-Speech Tagging for Twitter: Annotation, Features, and
//! Experiments, 2011. The split and the format: the GELU paper, section 3.3, and its code.

mod folder;
mod tagged;
mod vectors;

pub use folder::{FILES, is_present, read, write_synthetic};
pub use tagged::{TAGS, Tweet, parse_tweets};
pub use vectors::{Found, TWEET_END, UNKNOWN, WordVectors};
