import fc from 'fast-check';

// Properties draw the same cases on every run; a failure prints the seed and the path that repeat it.
fc.configureGlobal({ seed: 20_261_129 });
