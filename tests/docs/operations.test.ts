import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../system/process';

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly annotations: object }[] }[];
}

test('every alert says what it is about, and the guide what it means and what to do', () => {
  const { groups } = parse(readFileSync(join(ROOT, 'operations/prometheus/alerts.yaml'), 'utf8')) as Rules;
  const rules = groups.flatMap((group) => group.rules);
  const guide = readFileSync(join(ROOT, 'docs/guides/operate.md'), 'utf8');
  const explained = [...guide.matchAll(/^\| `(Conveyor\w+)` \| .+ \| .+ \|$/gm)].map(([, alert]) => alert);
  expect(explained).toEqual(rules.map(({ alert }) => alert));
  for (const { annotations } of rules) expect(Object.keys(annotations)).toEqual(['summary', 'description']);
});
