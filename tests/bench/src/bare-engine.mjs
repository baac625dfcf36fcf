// The engine's own loop in a process of its own, with nothing of ours in it: what the embedded client is held against.
const { getLlama } = await import('node-llama-cpp');
const [modelPath, threads, contextTokens] = process.argv.slice(2);

const llama = await getLlama({ gpu: false, build: 'never', logLevel: 'error', maxThreads: Number(threads) });
const model = await llama.loadModel({ modelPath });
const context = await model.createContext({
  contextSize: Number(contextTokens),
  sequences: 1,
  threads: Number(threads),
});
const sequence = context.getSequence();

process.on('disconnect', () => process.exit(0));
process.on('message', async ({ prompt, tokens }) => {
  await sequence.clearHistory();
  let count = 0;
  let first = 0n;
  let last = 0n;
  for await (const _ of sequence.evaluate(model.tokenize(prompt, true), {
    temperature: 0,
    yieldEogToken: true,
  })) {
    count += 1;
    if (count === 1) first = process.hrtime.bigint();
    if (count === tokens) {
      last = process.hrtime.bigint();
      break;
    }
  }
  process.send({ tokens_per_s: (count - 1) / (Number(last - first) / 1e9) });
});
process.send({ ready: true });
