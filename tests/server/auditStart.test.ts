import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '../../sdk/digest';
import { LiveRegistry } from '../../settings/liveRegistry';
import { startAudit } from '../../server/audit/start';

const folder = mkdtempSync(join(tmpdir(), 'conveyor-audit-start-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a configuration is on record as soon as it counts, and one that is not valid never', async () => {
  const file = join(folder, 'conveyor.config.yaml');
  const write = (groups: string): string => {
    const text = `audit: { file: ${join(folder, 'audit.jsonl')} }\ngroups: ${groups}\n`;
    writeFileSync(file, text);
    return sha256(text);
  };
  const first = write('{ storage: ["user:alice"] }');
  const live = new LiveRegistry({}, () => undefined, { file });
  const audit = startAudit(live);
  write('{ storage: ["a stranger"] }');
  live.look();
  const second = write('{ storage: ["user:alice", "user:bob"] }');
  live.look();
  await audit?.close();
  const page = await audit?.read({ operation: 'configure', limit: 9 });
  expect(page?.records.map(({ before, after }) => [before, after])).toEqual([
    [first, second],
    [null, first],
  ]);
});
