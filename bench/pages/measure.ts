import { recordPagesApp } from '../../tests/builders/recordPagesApp';
import { print } from '../stack';

/** The processor time that a server takes for each page, with so many pipelines. */

const PATHS = [
  ...['/', '/pipelines', '/pipelines/kvstore', '/releases/kvstore/13', '/releases/kvstore/13/deploy'],
  ...['/where?revision=kv:12', '/calendar', '/stats', '/bugs', '/freshness', '/audit', '/settings'],
];

const pick = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;

export async function measure(pipelines: number, times: number): Promise<void> {
  const { app, headers, pass } = recordPagesApp(pipelines);
  for (const path of PATHS) {
    const taken: number[] = [];
    let bytes = 0;
    for (let n = 0; n < times + WARM; n += 1) {
      // Nothing is shared with the request before.
      pass(60_000);
      const before = process.cpuUsage();
      const answer = await app.request(path, { headers });
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${text.slice(0, 500)}`);
      const { user, system } = process.cpuUsage(before);
      if (n >= WARM) taken.push((user + system) / 1000);
      bytes = Buffer.byteLength(text);
    }
    const sorted = taken.sort((a, b) => a - b);
    const [p50, p99] = [pick(sorted, 0.5), pick(sorted, 0.99)].map((ms) => ms.toFixed(1));
    print([[path, `${p50} ms, ${p99} ms (p50, p99), ${(bytes / 1000).toFixed(1)} kB`]]);
  }
}

const WARM = 20;
