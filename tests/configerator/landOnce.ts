import { Lander } from '../../configerator/repository/land';
import { ConfigRepository } from '../../configerator/repository/repository';

/** A process that lands changes, to be killed as it does: `<origin> <folder of copies> <change>…` */
const [origin = '', copies = '', ...changes] = process.argv.slice(2);

void (async () => {
  const repository = await ConfigRepository.open({ name: 'flags', git: origin, branch: 'main' }, copies);
  await new Lander(repository).land(changes.map(Number), Date.parse('2026-11-23T09:00:00Z'));
  process.stdout.write('landed\n');
})();
