import { noBits } from '../../configerator/domain/vessel/bits';
import { draw, openStream } from '../kernel/random';
import { newHost, type Host, type Sender } from './host';
import type { SwarmOptions } from './options';

/** The speed of a slow host as a share of the normal one. */
const SLOW = 0.1;

/** The source and all hosts, with their faults. */
export function populate(options: SwarmOptions): [Sender, Host[]] {
  const { seed, pieces, regions, racksPerRegion, sourceUpload, faults = {} } = options;
  const { liars = 0, vanishing = 0, vanishWithinMs = 10_000, slow = 0, sourceGoneAtMs = Infinity } = faults;
  const dice = openStream(seed, 'vessel');
  const hosts = Array.from({ length: options.hosts }, (_, at): Host => {
    const place = { region: at % regions, rack: Math.floor(at / regions) % racksPerRegion };
    const host = newHost(`h${at}`, place, pieces, draw(dice) * options.spreadMs);
    const [isLiar, isVanishing, isSlow] = [draw(dice) < liars, draw(dice) < vanishing, draw(dice) < slow];
    const goneAt = draw(dice) * vanishWithinMs;
    return {
      ...host,
      isLiar,
      upload: options.upload * (isSlow ? SLOW : 1),
      goneAt: isVanishing && !isLiar ? goneAt : Infinity,
      have: isLiar ? noBits(pieces).fill(255) : host.have,
    };
  });
  const source: Sender = {
    ...{ id: 'source', region: 0, rack: -1, isLiar: false, upload: sourceUpload, freeAt: 0, sending: 0 },
    ...{ goneAt: sourceGoneAtMs, have: noBits(pieces), served: new Map() },
  };
  return [source, hosts];
}
