import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../cli/stack/ports';
import { Processes, type Running } from './process';
import { startTemporal } from './server';
import { given } from './service';
import { Stack } from './stack';

const processes = new Processes();
const home = mkdtempSync(join(tmpdir(), 'conveyor-server-'));
let [port, server, stack]: [number, Running?, Stack?] = [0];

const start = () => startTemporal(processes, { home, port, data: join(home, 'temporal.db') });

beforeAll(async () => {
  [port = 0] = await freePorts(1);
  server = await start();
  stack = await Stack.open({ temporal: `127.0.0.1:${port}` });
});
afterAll(async () => {
  await stack?.close();
  await processes.reap();
  rmSync(home, { recursive: true, force: true });
});

test('a Temporal server that is killed and started again loses nothing, and a watch sees the end', async () => {
  const shop = await given(stack!, { restartMs: 400, nSmall: 1 });
  const watching = stack!.start(['watch', await shop.ships(2)]);
  await shop.isIn(1, 'baking');
  // It must have seen the release: a client that finds no server at first gets an error at once.
  await watching.said(/baking|bake/);
  server!.kill('SIGKILL');
  await server!.ended;
  await watching.complained(/no contact: no Temporal server answers at .*; trying again/);
  server = await start();
  // Waits for the end, so that a failure shows its last output.
  expect(await watching.ended).toMatchObject({ stderr: expect.stringMatching(/connected again\n$/), code: 0 });
  expect(await shop.deploy(1)).toMatchObject({ outcome: 'succeeded', classification: 'success' });
  expect(await shop.runs()).toEqual({ 2: 12 });
  expect((await shop.effects()).map((effect) => effect.split(' ')[1])).toEqual(['executeUpdates', 'executeUpdates']);
});
