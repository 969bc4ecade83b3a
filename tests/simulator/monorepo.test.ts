import { invertDependencies, walkDependents } from '../../domain/dependents';
import { drawMonorepo } from '../../simulator/monorepo/targets';
import { callExtension, viaApp } from '../../sdk/client';
import { dependencyGraphProtocol } from '../../sdk/protocol/dependencyGraph';
import { givenFleet } from '../builders/simulatorFleet';

test('a drawn monorepo is the same for the same seed, and each target depends on older libraries alone', () => {
  const one = drawMonorepo(2_000, 7);
  expect([...one]).toEqual([...drawMonorepo(2_000, 7)]);
  expect([...one]).not.toEqual([...drawMonorepo(2_000, 8)]);
  const place = new Map([...one.keys()].map((name, n) => [name, n]));
  for (const [name, deps] of one)
    for (const dep of deps) {
      expect(dep).toMatch(/^\/\/lib\//);
      expect(place.get(dep)).toBeLessThan(place.get(name) ?? 0);
    }
});

test('few libraries are in very much and most in little', () => {
  const dependents = invertDependencies(drawMonorepo(20_000, 1));
  const sizes = Array.from({ length: 40 }, (_, n) => walkDependents(dependents, `//lib/${n * 300}:lib`, 14).size);
  expect(Math.max(...sizes)).toBeGreaterThan(15_000);
  expect(Math.min(...sizes)).toBeLessThan(10);
});

test('dependencies are those at the time of the question', async () => {
  const fleet = givenFleet();
  const ask = async () => {
    const { affected } = await callExtension({
      service: { name: 'builds', url: 'http://simulator/dependency-graph', timeoutMs: 5_000 },
      ...{ protocol: dependencyGraphProtocol, method: 'getDependents', fetch: viaApp(fleet.app) },
      request: { target: '//lib:rpc', revisions: { from: '3' }, depth: 14, among: [{ target: '//kv', revision: '4' }] },
      context: { pipeline: '', release: 0, deployId: 'bugs', actor: 'service:conveyor', config: {} },
    });
    return affected.map(({ path }) => path);
  };
  await fleet.control('POST', '/targets', { target: '//lib:rpc' });
  await fleet.control('POST', '/targets', { target: '//kv' });
  expect(await ask()).toEqual([]);
  await fleet.control('POST', '/targets', { target: '//kv', deps: ['//lib:rpc'] });
  expect(await ask()).toEqual([['//kv', '//lib:rpc']]);
  await fleet.control('POST', '/monorepo', { targets: 10, seed: 1 });
  expect(await ask()).toEqual([]);
});
