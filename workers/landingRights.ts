import type { RightsOf } from '../configerator/repository/rights';
import { pathRights } from '../domain/access/paths';
import { withMember } from '../domain/principals';
import type { Registry } from '../settings/registry';

type Rules = Pick<Registry, 'configRepositories' | 'policy' | 'groups'>;

/** Repositories of configuration with the rights that the settings give at the moment of a landing. */
export function withLandingRights(registry: Rules): Pick<Registry, 'configRepositories'> {
  const rightsIn =
    (name: string): RightsOf =>
    (author, groups) => {
      const repository = registry.configRepositories.find((one) => one.name === name);
      const facts = { policy: registry.policy, groups: withMember(registry.groups, author, groups) };
      return repository === undefined ? null : pathRights(facts, repository, author);
    };
  return {
    get configRepositories() {
      return registry.configRepositories.map((one) => ({ ...one, rightsOf: rightsIn(one.name) }));
    },
  };
}
