import { HEALTH_SERVICE_CHECKS } from '../../sdk/conform/healthService';
import { describeSuite } from './suite';
import { givenHealthService } from './healthServices';

describeSuite('the Health Check Service', HEALTH_SERVICE_CHECKS, async () => givenHealthService());
