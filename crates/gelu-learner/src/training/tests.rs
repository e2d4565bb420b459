use super::*;
use crate::testing::{Batch, Net, Plus, below, pass};
use crate::{Error, Loader, Result};
use burn::optim::SgdConfig;
use burn::tensor::Device;

const RATE: f64 = 0.1;

fn training() -> Training<Net> {
    Training::new(Net::new(|_| ()), SgdConfig::new().init(), RATE).num_epochs(2)
}

/// Returns a loader whose batcher adds `plus`, so that tests can distinguish loaders.
fn load(examples: usize, plus: usize) -> Loader<usize, Batch> {
    Loader::new(below(examples), Plus(plus))
}

fn prepared(training: Training<Net>, done: usize) -> Result<Prepared<Net>> {
    training.prepared(3, done, &Device::default(), &[])
}

#[test]
fn a_loader_counts_a_last_batch_that_is_not_full_unless_it_is_dropped() {
    let loader = load(5, 0).batch_size(2);
    assert_eq!(loader.num_batches(), 3);
    assert_eq!(loader.drop_last().num_batches(), 2);
    assert_eq!(load(5, 0).num_batches(), 0);
}

/// The orders come from Python without `numpy`: ChaCha8 from D. J. Bernstein's description (checked against the
/// vector in rand_chacha's documentation), the key by PCG32 as rand_core documents it, stream 2e + 1 for epoch e, and
/// a Fisher–Yates shuffle whose indices come from one random number below 12! as rand documents it.
#[test]
fn an_epoch_has_the_order_of_its_number_also_after_others() {
    let train = |done| prepared(training().train(load(10, 0).batch_size(10)), done).unwrap().train;
    let through = train(0);
    assert_eq!(pass(through.as_ref()), [[1, 8, 0, 9, 7, 3, 4, 6, 2, 5]]);
    assert_eq!(pass(through.as_ref()), [[5, 9, 1, 8, 3, 6, 2, 4, 7, 0]]);
    assert_eq!(pass(train(2).as_ref()), [[2, 1, 9, 7, 6, 3, 0, 8, 4, 5]]);
}

#[test]
fn every_part_has_its_own_batcher_and_probes_are_of_validation() {
    let all = || {
        training()
            .train(load(3, 100).batch_size(2))
            .valid(load(3, 200))
            .test(load(3, 300).batch_size(3))
            .measure_train(load(3, 400))
            .probes()
    };
    let measured = prepared(all(), 0).unwrap().measured;
    let batches =
        |loader: &Option<burn::train::ValidLoader<Net>>| pass(loader.as_ref().unwrap().as_ref());
    // Without a batch size, the loader uses that of `.train(…)`.
    assert_eq!(batches(&measured.valid), [vec![200, 201], vec![202]]);
    assert_eq!(batches(&measured.test), [[300, 301, 302]]);
    assert_eq!(batches(&measured.train), [vec![400, 401], vec![402]]);
    assert_eq!(batches(&measured.probed), batches(&measured.valid));
    let probed = |without: fn(&mut Training<Net>)| {
        let mut training = all();
        without(&mut training);
        batches(&prepared(training, 0).unwrap().measured.probed)[0][0]
    };
    assert_eq!(probed(|training| training.valid = None), 300);
    assert_eq!(probed(|training| (training.valid, training.test) = (None, None)), 400);
    let none = |training: &mut Training<Net>| {
        (training.valid, training.test, training.measure_train) = (None, None, None);
    };
    assert_eq!(probed(none), 100);
}

#[test]
fn what_cannot_be_trained_is_refused_with_what_to_do() {
    let refused = |training: Training<Net>| match prepared(training, 0) {
        Err(Error::Usage(problem)) => problem,
        other => panic!("{other:?}"),
    };
    let of = |train: Loader<usize, Batch>| training().train(train);
    let sound = || of(load(3, 0).batch_size(2));
    for (training, said) in [
        (training(), "there is no data to train on; give some with .train(Loader::new(…))"),
        (of(load(3, 0)), "the batch size is missing; write .train(Loader::new(…).batch_size(64))"),
        (of(load(3, 0).batch_size(0)), "the batch size is 0; it has to be at least 1"),
        (
            of(load(0, 0).batch_size(2)),
            "the data set for .train(…) has no examples; give it at least one",
        ),
        (
            of(load(3, 0).batch_size(4)),
            "a batch of 4 is larger than the data set for .train(…), which has 3 examples; use .batch_size(3) or \
             a smaller one",
        ),
        (
            sound().test(load(0, 0)),
            "the data set for .test(…) has no examples; give it at least one",
        ),
        (
            sound().test(load(3, 0).drop_last()),
            ".test(…) measures all examples, and .drop_last() would leave some out; use it for .train(…) alone",
        ),
        (sound().num_epochs(0), "num_epochs is 0; it has to be at least 1, as in .num_epochs(10)"),
        (
            sound().grads_accumulation(0),
            "grads_accumulation is 0; it has to be at least 1, as in .grads_accumulation(4)",
        ),
        (
            sound().measure_every(0),
            "measure_every is 0; it has to be at least 1, as in .measure_every(5)",
        ),
        (
            sound().clip_norm(0.0),
            "clip_norm is 0; it has to be a number above 0, as in .clip_norm(1.0)",
        ),
    ] {
        assert_eq!(refused(training), said);
    }
    // A measured split may have fewer examples than a training batch.
    assert!(prepared(sound().valid(load(1, 0)), 0).is_ok());
}
