import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as ts from 'typescript';
import { Copies } from '../../examples/push-types/processes/copies';
import { Fleet, fleetSchema, type FleetFile } from '../../examples/push-types/processes/fleet';
import type { State } from '../../sdk/updates';

const PROGRAM = join(__dirname, '../../examples/push-types/processes/service.ts');
const GREETS = 'GREETING=hello\n';
const FIRST = 'kv:1';
const VERSIONS = { 'kv:1': GREETS, 'new:1': GREETS, 'new:2': GREETS, 'older:1': GREETS, 'dead:1': '' };

/** Where real processes of the example's service are run by a test; `close` leaves none behind. */
export class ProcessesHome {
  readonly home = mkdtempSync(join(tmpdir(), 'conveyor-processes-'));
  readonly versions = join(this.home, 'versions');
  readonly program = join(this.home, 'service.js');

  constructor() {
    const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 };
    writeFileSync(this.program, ts.transpileModule(readFileSync(PROGRAM, 'utf8'), { compilerOptions }).outputText);
    mkdirSync(this.versions);
    for (const [version, settings] of Object.entries(VERSIONS))
      writeFileSync(join(this.versions, `${version}.env`), settings);
  }

  /** The push type begins, or begins anew after a crash. */
  open(units: Readonly<Record<string, number>>, atOnce = 2): Fleet {
    const copies = Object.entries(units).map(([name, count]) => [name, { copies: count }]);
    const file: FleetFile = fleetSchema.parse({
      ...{ service: 'kv', firstVersion: FIRST, atOnce, units: Object.fromEntries(copies) },
    });
    return new Fleet(file, this);
  }

  /** The numbers of the processes, by task. */
  pids(): Record<string, number> {
    const folder = join(this.home, 'run');
    const pidIn = (file: string): number =>
      (JSON.parse(readFileSync(join(folder, file), 'utf8')) as { pid: number }).pid;
    return Object.fromEntries(
      readdirSync(folder).map((file) => [file.replace('.json', '').replace('.', '/'), pidIn(file)]),
    );
  }

  /** As if nothing had happened yet: what runs as it did at first is left running, since starting a process takes time. */
  forget(size: number): void {
    const file = join(this.home, 'state.json');
    if (!existsSync(file)) return;
    const { units } = JSON.parse(readFileSync(file, 'utf8')) as State;
    for (const unit of Object.values(units)) {
      Object.assign(unit, { version: FIRST, update: null });
      delete unit.removed;
      unit.slots.splice(size);
      for (const [index, slot] of unit.slots.entries()) {
        if (slot.version !== FIRST) slot.start = unit.starts[index] = (unit.starts[index] ?? 0) + 1;
        Object.assign(slot, { version: FIRST, update: null, state: 'down', retryAt: 0, failures: 0 });
      }
    }
    writeFileSync(file, JSON.stringify({ units, updates: {}, cancelled: [], calls: {} } satisfies State));
  }

  /** The memory is gone; the processes are not. */
  lose(): void {
    rmSync(join(this.home, 'state.json'));
  }

  async close(): Promise<void> {
    await new Copies(this).stopAll();
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** Lets every unit do all that it has to. */
export async function settle(fleet: Fleet): Promise<void> {
  const allDone = async (unit: string): Promise<void> => {
    while (await fleet.step(unit));
  };
  await Promise.all(fleet.unitNames.map(allDone));
}
