import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { lookForBugs } from '../../../../features/bugs/activities/lookForBugs';
import { findAffectedTargets } from '../../../../features/bugs/activities/dependencyGraphs';
import type { Artifact } from '../../../../domain/artifact';
import type { Bug } from '../../../../features/bugs/domain/bug';
import { ExtensionError, serveDependencyGraph } from '../../../../sdk/server';
import { parseRegistry } from '../../../../settings/registry';
import type { Fetch } from '../../../../sdk/request';
import { newBug } from '../../../builders/bugs';
import { silentFetch } from '../../../builders/silentFetch';

const BUG = newBug();
const BUILT = { target: '//kv:server', revision: '3' };
const FOUND = { ...BUILT, depth: 1, path: ['//kv:server', '//lib:rpc'] };
const ARTIFACT: Artifact = {
  ...{ name: 'executable', kind: 'executable', version: 'kv:3', metadata: {} },
  builtFrom: { repository: 'mono', ...BUILT },
};

type Answer = () => { affected: (typeof FOUND)[] };
const finds: Answer = () => ({ affected: [FOUND] });
const nothing: Answer = () => ({ affected: [] });
const refuses: Answer = () => {
  throw new ExtensionError('unknown-revision', '3 is not a revision');
};
const breaks: Answer = () => {
  throw new ExtensionError('busy', 'later', { retryable: true });
};

/** Graphs by name, and what is asked of them; no bug is reported unless it is there. */
function given(graphs: Readonly<Record<string, Answer>>, bugs: readonly Bug[] | null = [BUG]) {
  const asked: number[] = [];
  const names = Object.keys(graphs);
  const registry = parseRegistry(
    { extensions: names.map((name) => ({ name, kind: 'dependency-graph', url: `http://${name}` })) },
    {},
  );
  const query = () =>
    bugs === null ? Promise.reject(new WorkflowNotFoundError('no', 'bugs', undefined)) : Promise.resolve({ bugs });
  const client = { workflow: { getHandle: () => ({ query }) } } as unknown as Client;
  const fetch = async (request: Request) => {
    const app = serveDependencyGraph('graph', {
      getDependents: ({ among }) => {
        asked.push(among.length);
        return graphs[new URL(request.url).hostname]!();
      },
    });
    return app.fetch(request);
  };
  return { asked, ports: { registry, client, fetch } };
}

const bugIn = async (...asked: Parameters<typeof lookForBugs>) => (await lookForBugs(...asked)).bug;

test('a bug that one of several graphs finds counts, also where another does not know its revisions', async () => {
  for (const graphs of [
    { one: finds, other: nothing },
    { one: refuses, other: finds },
    { one: finds, other: refuses },
  ])
    expect(await bugIn(given(graphs).ports, [ARTIFACT])).toMatch(/^executable@kv:3 contains bug\/1 in \/\/lib:rpc/);
});

test('a bug that every graph refuses stops no deploy, and its search reports the refusal', async () => {
  const { ports } = given({ one: refuses, other: refuses });
  expect(await bugIn(ports, [ARTIFACT])).toBeUndefined();
  await expect(findAffectedTargets(ports, BUG, [])).rejects.toMatchObject({ code: 'extension-rejected' });
});

test('a graph that lies, or does not answer, is no clearance', async () => {
  const lies: Answer = () => ({ affected: [{ ...FOUND, target: '//other', path: ['//other', '//lib:rpc'] }] });
  await expect(bugIn(given({ one: lies }).ports, [ARTIFACT])).rejects.toMatchObject({ code: 'extension-protocol' });
  const away = bugIn(given({ one: finds, other: breaks }).ports, [ARTIFACT]);
  await expect(away).rejects.toMatchObject({ code: 'extension-unavailable' });
});

const asking = (...answers: (() => Response | Promise<Response>)[]) => {
  const registry = parseRegistry(
    { extensions: [{ name: 'builds', kind: 'dependency-graph', url: 'http://builds', timeout: '50ms' }] },
    {},
  );
  let asked = 0;
  const fetch: Fetch = async (request, init) => {
    const answer = answers[asked];
    asked += 1;
    return answer ? answer() : silentFetch(request, init);
  };
  return { calls: () => asked, ports: { registry, client: {} as Client, fetch } };
};

test('a graph that is slow is given up in time, and is no clearance', async () => {
  await expect(findAffectedTargets(asking().ports, BUG, [BUILT])).rejects.toMatchObject({
    ...{ code: 'extension-unavailable', message: expect.stringContaining('no answer within 50 ms') },
  });
});

test('a graph that always knows of another page is asked once for each thousand, whatever it answers', async () => {
  const more = () => Response.json({ affected: [FOUND], cursor: 'more' });
  const { ports, calls } = asking(more, more, more, more);
  const found = await findAffectedTargets(ports, BUG, [BUILT]);
  expect([found.size, calls()]).toEqual([1, 1]);
});

const MIB = new TextEncoder().encode(' '.repeat(1_048_576));

test.each<[string, () => Response, RegExp]>([
  ['names more than it was asked about', () => Response.json({ affected: Array(1_001).fill(FOUND) }), /affected: /],
  ['names one twice over another path', () => Response.json({ affected: [FOUND, { ...FOUND, path: ['//kv:server', '//x'] }] }), /affected.1.target: \/\/kv:server at 3 appears twice/],
  ['goes deeper than it was asked to', () => Response.json({ affected: [{ ...FOUND, depth: 15, path: ['//kv:server', ...Array<string>(14).fill('//x'), '//lib:rpc'] }] }), /affected.0.depth: 15 is more than the 14 asked for/],
  ['never ends', () => new Response(new ReadableStream({ pull: (stream) => stream.enqueue(MIB) })), /larger than 8 MiB/],
  ['is not JSON', () => new Response('<html>'), /not JSON/],
])('an answer that %s is not believed', async (_, answer, why) => {
  await expect(findAffectedTargets(asking(answer).ports, BUG, [BUILT])).rejects.toMatchObject({
    ...{ code: 'extension-protocol', message: expect.stringMatching(why) },
  });
}); // prettier-ignore

test('many are asked about in pages of a thousand', async () => {
  const { ports, asked } = given({ one: nothing });
  await findAffectedTargets(
    ports,
    BUG,
    Array.from({ length: 2_001 }, (_, n) => ({ target: `//t:${n}`, revision: '3' })),
  );
  expect(asked).toEqual([1_000, 1_000, 1]);
});

test.each<[string, Parameters<typeof given>, Artifact]>([
  ['no graph is configured', [{}], ARTIFACT],
  ['nobody ever reported a bug', [{ one: finds }, null], ARTIFACT],
  ['no bug is in force', [{ one: finds }, [{ ...BUG, closed: { by: 'user:bob', at: '', reason: '' } }]], ARTIFACT],
  ['the artifact does not name its target', [{ one: finds }], { ...ARTIFACT, builtFrom: { repository: 'mono', revision: '3' } }], // prettier-ignore
])('where %s no graph is asked', async (_, world, artifact) => {
  const { ports, asked } = given(...world);
  expect(await bugIn(ports, [artifact])).toBeUndefined();
  expect(asked).toEqual([]);
});
