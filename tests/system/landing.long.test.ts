import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { connectTemporal, type Temporal } from '../../client/connection';
import { landChange } from '../../client/landing';
import { LandingQueue } from '../../client/landingQueue';
import { createDraftFromValues, propose } from '../../configerator/repository/propose';
import { ConfigRepository } from '../../configerator/repository/repository';
import { OWNER, Stack } from './stack';

const [R, WRITERS] = ['strip50', 50];

describe('a landing strip that fifty want to use at the same moment', () => {
  let stack: Stack;
  let temporal: Temporal;
  let repository: ConfigRepository;
  let git = '';

  beforeAll(async () => {
    stack = await Stack.open({ config: { config: { repositories: { [R]: { git: './flags.git' } } } } });
    git = join(stack.home, 'flags.git');
    execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', git]);
    repository = await ConfigRepository.open({ name: R, git, branch: 'main' }, join(stack.home, 'copy'));
    temporal = await connectTemporal({ address: stack.env['TEMPORAL_ADDRESS'] ?? '' });
  });
  afterAll(async () => {
    await temporal?.connection.close();
    await stack?.close();
  });

  test('lands all of them, each once, and none gets an error', async () => {
    const base = await repository.head();
    for (let n = 1; n <= WRITERS; n += 1) {
      const draft = await createDraftFromValues(repository, base, { [`team${n}/limit`]: n });
      await propose(repository, draft, { author: OWNER, message: `Set ${n}`, nowMs: Date.now() });
    }
    const place = { repository: R, taskQueue: stack.taskQueue, heartbeatTimeoutMs: 30_000 };
    const queue = new LandingQueue(({ change }) => landChange(temporal, place, { change }));
    const changes = Array.from({ length: WRITERS }, (_, at) => at + 1);
    const landed = await Promise.allSettled(changes.map((change) => queue.land({ repository: R, change })));
    expect(landed.map((one) => one.status === 'fulfilled' && 'commit' in one.value)).toEqual(changes.map(() => true));
    const onBranch = execFileSync('git', ['--git-dir', git, 'rev-list', '--count', 'main'], { encoding: 'utf8' });
    expect(Number(onBranch)).toBe(WRITERS);
  });
});
