import time, sys, resource, numpy as np
from explorer.cities import nation
from explorer.points.partitions import scan_points
import explorer.points.partitions.counting as c
if len(sys.argv)>3: c.BATCH=int(sys.argv[3])
g=nation.grid()
t0=time.process_time()
p=scan_points(sys.argv[1]); 
m,notes=p.count(g) if sys.argv[2]=='1' else p.count(g,workers=sys.argv[2])
first=time.process_time()-t0
print('rss after first', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss//1024)
t0=time.process_time(); w=time.time()
m,notes=p.count(g, workers=None if sys.argv[2]=='1' else sys.argv[2])
print(p.rows, 'first', first, 'cpu', time.process_time()-t0, 'wall', time.time()-w, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss//1024, 'MB', m.total, notes, m.key[:8])
