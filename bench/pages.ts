import { createJiti } from 'jiti';
import { run } from './stack';

/**
 * The processor time that a server takes for a page, without Temporal, git and the archive: those are fakes that answer at
 * once, so this measures models, sentences and markup alone. `npx jiti bench/pages.ts [pipelines] [times] [path…]`
 */
const [pipelines = 30_000, times = 200] = process.argv.slice(2, 4).map(Number);
const paths = process.argv.slice(4);

/** Pages are made of JSX, which the command line of jiti cannot read. */
const jiti = createJiti(__filename, { jsx: { runtime: 'automatic', importSource: 'hono/jsx' } });

run(async () => {
  const { measure } = await jiti.import<typeof import('./pages/measure')>('./pages/measure');
  await measure(pipelines, times, paths);
});
