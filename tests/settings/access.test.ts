import { parseRegistry } from '../../settings/registry';
import { CONFIG } from '../builders/accessWorld';

const parsed = (platform: object, more: object = {}) => parseRegistry({ ...CONFIG, platform, ...more }, {});
const ADMINS = { admins: ['user:root'] };

describe('the platform section of the configuration', () => {
  test('a configuration without it has no policy, and one with admins alone grants nothing to others', () => {
    expect(parseRegistry({}, {}).policy).toBeNull();
    expect(parsed(ADMINS).policy).toEqual({
      ...ADMINS,
      ...{ pipelines: [], services: [], uses: [], scripts: [], bugs: [], protection: [] },
    });
  });

  test.each([
    ['no admins', {}, /platform\.admins/],
    ['nobody as admins', { admins: [] }, /platform\.admins: expected at least one principal/],
    [
      'a name in capitals',
      { ...ADMINS, pipelines: [{ names: ['Storage-*'] }] },
      /platform\.pipelines\.0\.names\.0: expected a name or a pattern/,
    ],
    [
      'a regular expression',
      { ...ADMINS, services: [{ pushType: 'twine', units: ['kv[ab]'], owners: ['user:a'] }] },
      /platform\.services\.0\.units\.0/,
    ],
    ['no principal', { ...ADMINS, scripts: { by: ['alice'] } }, /platform\.scripts\.by\.0: expected a principal/],
    [
      'an unknown kind',
      { ...ADMINS, uses: [{ kind: 'finder', names: ['x'], by: ['user:a'] }] },
      /platform\.uses\.0\.kind/,
    ],
    ['an unknown key', { ...ADMINS, protect: [] }, /protect/],
    [
      'an emergency that is true',
      { ...ADMINS, protection: [{ pipelines: ['*'], emergency: true }] },
      /expected false or/,
    ],
    ['many stars', { ...ADMINS, pipelines: [{ names: ['a*'.repeat(9)] }] }, /at most 8 of \*/],
    [
      'many rules',
      { ...ADMINS, pipelines: Array.from({ length: 1001 }, () => ({ names: ['a'] })) },
      /platform\.pipelines: Too big/,
    ],
  ])('%s is refused with its place', (_what, platform, message) => {
    expect(() => parsed(platform)).toThrow(message);
  });

  test('a rule that is probably not meant is named with its place', () => {
    const sealed = { seal: { keysEnv: 'KEYS' } };
    const platform = {
      admins: ['group:nobody'],
      pipelines: [{ names: ['a'.repeat(64)] }],
      services: [{ pushType: 'twin', units: ['*'], owners: ['user:a'] }],
      uses: [{ kind: 'action-service', names: ['build'], by: ['user:a'] }],
      protection: [{ pipelines: ['prod-*'] }],
    };
    expect(parsed(platform, sealed).warnings).toEqual([
      'platform.admins: there is no group nobody under groups',
      'platform.pipelines.0: it permits nothing',
      'platform.services.0.pushType: there is no push type twin',
      'platform.uses.0.names: there is no action-service build',
      'platform.protection.0: it requires nothing',
      'platform.protection.0: it lists pipelines (prod-*), so another pipeline may deploy to the same units without it; name the services instead',
      `platform.pipelines.0.names: no pipeline can be called ${'a'.repeat(64)}`,
    ]);
  });

  test('a rule that follows the names of pipelines alone is named, and none that names units', () => {
    const sealed = { seal: { keysEnv: 'KEYS' } };
    expect(parsed(CONFIG.platform, sealed).warnings).toEqual([
      expect.stringMatching(/^platform\.protection\.0: it lists pipelines \(prod-\*\).*name the services instead$/),
    ]);
    const services = [{ pushType: 'twine', units: ['prod-*'] }];
    const protection = CONFIG.platform.protection.map((rule) => ({ ...rule, services }));
    expect(parsed({ ...CONFIG.platform, protection }, sealed).warnings).toEqual([]);
  });
});
