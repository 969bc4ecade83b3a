import { join } from 'node:path';
import { loadInventory } from '../../push-types/hosts/loadInventory';
import { parsePipeline } from '../../domain/spec/parse';
import { readFileSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { parse, stringify } from 'yaml';

const EXAMPLE = join(__dirname, '../../examples/hosts');

describe('the example of hosts', () => {
  test('has an inventory with the units that its pipeline deploys', async () => {
    const { inventory } = await loadInventory(join(EXAMPLE, 'hosts.yaml'));
    const text = readFileSync(join(EXAMPLE, 'pipeline.yaml'), 'utf8');
    expect(parsePipeline(text).problems).toEqual([]);
    const { actions } = parse(text) as { actions: { deploy: { with: { config: { units: string[] } } } } };
    expect([...inventory.units.keys()]).toEqual(actions.deploy.with.config.units);
  });

  test('is preceded in the guide by a smaller inventory with the same units', async () => {
    const guide = readFileSync(join(__dirname, '../../docs/guides/hosts.md'), 'utf8');
    const [, text = ''] = /```yaml\n(service: shop[^`]*)```/.exec(guide) ?? [];
    const folder = mkdtempSync(join(tmpdir(), 'conveyor-guide-'));
    writeFileSync(join(folder, 'hosts.yaml'), text);
    const { inventory, file } = await loadInventory(join(folder, 'hosts.yaml'));
    rmSync(folder, { recursive: true });
    expect([...inventory.units.keys()]).toEqual(['web-eu', 'web-us']);
    expect([file.balancer, file.app.shared]).toEqual([undefined, []]);
  });

  test('has a program whose output is an inventory', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'conveyor-example-'));
    const { groups: _, ...file } = parse(readFileSync(join(EXAMPLE, 'hosts.yaml'), 'utf8')) as Record<string, unknown>;
    const program = { run: [join(EXAMPLE, 'inventory.py')], groups: ['web'] };
    writeFileSync(join(folder, 'hosts.yaml'), stringify({ ...file, program }));
    const { inventory } = await loadInventory(join(folder, 'hosts.yaml'));
    expect([...inventory.units].map(([unit, hosts]) => [unit, hosts.length])).toEqual([
      ['web-eu', 2],
      ['web-us', 1],
    ]);
    rmSync(folder, { recursive: true });
  });
});
