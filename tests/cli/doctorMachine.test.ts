import { lastOutputLine } from '../../cli/doctor/machine';

test('a look at this machine that takes too long is no proof that something is missing', async () => {
  const look = (script: string, timeoutMs: number) =>
    lastOutputLine(process.execPath, ['-e', script], process.env, timeoutMs);
  expect(typeof (await look('setInterval(() => 0, 1000)', 200))).toBe('symbol');
  expect(await look('process.exit(1)', 20_000)).toBeUndefined();
  expect(await look('console.log("/a\\n/b")', 20_000)).toBe('/b');
});
